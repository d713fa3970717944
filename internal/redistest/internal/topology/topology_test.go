package topology

import (
	"reflect"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const reply = "07c3 127.0.0.1:30004@31004,name slave a7b1 0 1426238317239 4 connected\n" +
		"a7b1 127.0.0.1:30001@31001 myself,master - 0 0 1 connected 0-99 200 [300->-67ed]\n"
	want := View{
		{ID: "07c3", Addr: "127.0.0.1:30004", Flags: []string{"slave"}, Master: "a7b1", Epoch: 4},
		{ID: "a7b1", Addr: "127.0.0.1:30001", Flags: []string{"myself", "master"}, Master: "-", Epoch: 1, Slots: []Range{{0, 99}, {200, 200}}},
	}
	got, err := Parse(reply)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, %v, want %+v", got, err, want)
	}
	for slot, want := range map[int]bool{0: true, 99: true, 100: false, 200: true, 300: false} {
		if got := got[1].Has(slot); got != want {
			t.Errorf("Has(%d) is %v, want %v", slot, got, want)
		}
	}
	if me, at, named := got.Myself(), got.At(got[0].Addr), got.Named("none"); !me.Is("master") || at.Is("master") || named.ID != "" {
		t.Errorf("Myself is %+v, At the replica %+v, Named none %+v", me, at, named)
	}
	for _, line := range []string{"\n", "a b c d e f g", "a b c d e f g h", "a b c d e f 1 h 0-x", "a b c d e f 1 h x"} {
		if got, err := Parse(line); err == nil {
			t.Errorf("%q is %+v", line, got)
		}
	}
}

func TestChecksum(t *testing.T) {
	t.Parallel()
	if sum := crc16("123456789"); sum != 0x31c3 {
		t.Errorf("CRC-16 of 123456789 is %#x, want 0x31c3", sum)
	}
}
