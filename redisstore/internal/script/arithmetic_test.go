package script

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

// arithmeticCheck applies the functions of arithmetic.lua to its arguments, four numbers at a time.
const arithmeticCheck = `
local r = {}
for i = 2, #ARGV, 4 do
  local a, b, c, limit = tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  for _, x in ipairs({mul_capped(a, b, limit), add_capped(a, b, max(a, limit)), mul_div_ceil(a, b, c, limit)}) do
    r[#r + 1] = string.format('%.0f', x)
  end
  -- without a limit the result must fit
  r[#r + 1] = string.format('%.0f', b <= c and mul_div_floor(a, b, c) or a < c and mul_div_floor(a, b, c) or -1)
end
return r`

// TestArithmetic compares the arithmetic that must be exact with math/big, on operands of all sizes.
func TestArithmetic(t *testing.T) {
	r := startRig(t)
	random := rand.New(rand.NewPCG(*seed, 0))
	for range max(5, *steps/300) {
		var operands [][4]int64
		args := []any{"EVAL", preludeSource + arithmeticSource + arithmeticCheck, 0, 1}
		for range 500 {
			// b and c are lengths and units in practice, and c is always below 2^52.
			o := [4]int64{operand(random, maxExact) - 1, operand(random, maxExact), operand(random, horizon), operand(random, maxExact)}
			operands = append(operands, o)
			args = append(args, o[0], o[1], o[2], o[3])
		}
		got, err := r.client.Do(context.Background(), args...).StringSlice()
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range operands {
			if want := arithmetic(o[0], o[1], o[2], o[3]); fmt.Sprint(got[4*i:4*i+4]) != fmt.Sprint(want) {
				t.Errorf("-seed=%d: a, b, c, limit = %d: got %v, want %v", *seed, o, got[4*i:4*i+4], want)
			}
		}
	}
}

// operand returns 1 to most: of any size, near a power of two, near the most, or near another's multiple.
func operand(r *rand.Rand, most int64) int64 {
	n := wide(r, most)
	switch r.IntN(6) {
	case 0:
		n = most - r.Int64N(3)
	case 1:
		n = int64(1)<<r.IntN(53) + int64(r.IntN(3)) - 1
	case 2:
		n = 100_003 * (1 + r.Int64N(1_000_000))
	}
	return max(1, min(n, most))
}

func arithmetic(a, b, c, limit int64) [4]*big.Int {
	A, B, C, most := big.NewInt(a), big.NewInt(b), big.NewInt(c), big.NewInt(limit)
	capped := func(x, most *big.Int) *big.Int {
		if x.Cmp(most) > 0 {
			return most
		}
		return x
	}
	product := new(big.Int).Mul(A, B)
	floor, rest := new(big.Int).DivMod(product, C, new(big.Int))
	ceil := floor
	if rest.Sign() > 0 {
		ceil = new(big.Int).Add(floor, big.NewInt(1))
	}
	if b > c && a >= c {
		floor = big.NewInt(-1)
	}
	return [4]*big.Int{
		capped(product, most),
		capped(new(big.Int).Add(A, B), big.NewInt(max(a, limit))),
		capped(ceil, most),
		floor,
	}
}
