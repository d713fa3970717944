package script

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
)

// bare are loops that do no more than what a take from a smooth bucket cannot do without: what the script is measured by.
var bare = map[int]string{
	1: `local t=redis.call('TIME'); local now=tonumber(t[1])*1000000+tonumber(t[2])
local spec='b,1000000,1,10000;'
local floor,ceil,find,pack,unpk=math.floor,math.ceil,string.find,struct.pack,struct.unpack
local out={} local vs=redis.call('MGET',unpack(KEYS))
for i=1,#KEYS do
 local v=vs[i]
 local used,at=0,now
 if v then
  if find(v,spec,1,true)==1 then
   used,at=unpk('<dd',v,#spec+1)
   if at<=now then local e=now-at if e>=used then used=0 else used=used-e end at=now end
  end
 end
 local full=10000000000
 if 10000<=full-used then used=used+10000 end
 redis.call('PSETEX',KEYS[i],ceil(used/1000)+60000,spec..pack('<dd',used,at))
 out[3*i-2]=floor((full-used)/10000) out[3*i-1]=0 out[3*i]=used
end
return out`,
	3: `local t=redis.call('TIME'); local now=tonumber(t[1])*1000000+tonumber(t[2])
local spec='b,1000000,1,10000|b,2000000,1,10000|b,4000000,1,10000;'
local floor,ceil,find,pack,unpk=math.floor,math.ceil,string.find,struct.pack,struct.unpack
local out={} local vs=redis.call('MGET',unpack(KEYS))
local fulls={10000000000,20000000000,40000000000}
local us,as={},{}
local n=0
for i=1,#KEYS do
 local v=vs[i]
 local ttl=0
 if v and find(v,spec,1,true)==1 then
   us[1],as[1],us[2],as[2],us[3],as[3]=unpk('<dddddd',v,#spec+1)
   for j=1,3 do local used,at=us[j],as[j]
   if at<=now then local e=now-at if e>=used then us[j]=0 else us[j]=used-e end as[j]=now end end
 else for j=1,3 do us[j]=0 as[j]=now end
 end
 local ok=true
 for j=1,3 do if 10000>fulls[j]-us[j] then ok=false end end
 for j=1,3 do if ok then us[j]=us[j]+10000 end
  if us[j]>ttl then ttl=us[j] end
  out[n+1]=floor((fulls[j]-us[j])/10000) out[n+2]=0 out[n+3]=us[j] n=n+3
 end
 redis.call('SET',KEYS[i],spec..pack('<dddddd',us[1],as[1],us[2],as[2],us[3],as[3]),'PX',ceil(ttl/1000)+60000)
end
return out`,
}

// BenchmarkDecision reports the time that Redis spends on a decision, of the best and of the middle fifty batches. It says
// little on a machine that does other things.
func BenchmarkDecision(b *testing.B) {
	r := startRig(b)
	for n, source := range bare {
		sha, err := r.client.ScriptLoad(context.Background(), source).Result()
		if err != nil {
			b.Fatal(err)
		}
		for _, size := range []int{64, 1} {
			b.Run(fmt.Sprintf("bare/%d buckets/%d subjects", n, size), func(b *testing.B) {
				measure(b, r, size, func(keys []string) error { return r.evalsha(sha, keys, nil) })
			})
		}
	}
	for _, c := range []struct {
		name   string
		op     Op
		cost   int64
		limits []string
	}{
		{"one bucket", Take, 1, []string{"100/s burst 1000000"}},
		{"one bucket, peek", Peek, 1, []string{"100/s burst 1000000"}},
		{"one bucket, charge", Charge, 1, []string{"100/s burst 1000000"}},
		{"one bucket, refused", Take, 1, []string{"1/h burst 1"}},
		{"three buckets", Take, 1, []string{"100/s burst 1000000", "100/s burst 2000000", "100/s burst 4000000"}},
		{"eight buckets", Take, 1, slices.Repeat([]string{"100/s burst 1000000"}, 8)},
		{"stepwise", Take, 1, []string{"100/s burst 1000000 stepwise"}},
		{"aligned", Take, 1, []string{"1000000/h fixed-window"}},
		{"calendar", Take, 1, []string{"1000000/d fixed-window calendar Europe/Berlin"}},
		{"anchored", Take, 1, []string{"1000000/h fixed-window anchored"}},
		{"sliding", Take, 1, []string{"1000000/h sliding-window"}},
		{"log", Take, 1, []string{"1000/m sliding-log"}},
		{"bucket and window", Take, 1, []string{"100/s burst 1000000", "1000000/h fixed-window"}},
	} {
		scope := scopeOf(c.limits...)
		take := func(keys []string) error {
			var batch Batch
			batch.Begin("", time.Now().UnixMicro())
			for _, key := range keys {
				batch.Add(c.op, scope, c.cost, key, Problem{})
			}
			return r.evalsha(SHA, batch.Keys(), batch.Args())
		}
		for _, size := range []int{64, 1} {
			b.Run(fmt.Sprintf("%s/%d subjects", c.name, size), func(b *testing.B) { measure(b, r, size, take) })
		}
		b.Run(c.name+"/hot key", func(b *testing.B) {
			measure(b, r, 64, func(keys []string) error { return take(slices.Repeat(keys[:1], 64)) })
		})
	}
}

// measure runs a script on keys drawn from many.
func measure(b *testing.B, r *rig, size int, run func(keys []string) error) {
	b.Helper()
	r.do(b, "FLUSHALL")
	var windows []float64
	batches := func(n int) {
		for range n {
			keys := make([]string, size)
			for i, k := range rand.Perm(5000)[:size] {
				keys[i] = fmt.Sprintf("weir:{12}3:api:%012d", k)
			}
			if err := run(keys); err != nil {
				b.Fatal(err)
			}
		}
	}
	batches(10_000 / size)
	for b.Loop() {
		r.do(b, "CONFIG", "RESETSTAT")
		batches(50)
		windows = append(windows, r.micros(b)/50/float64(size))
	}
	slices.Sort(windows)
	b.ReportMetric(windows[0], "best-µs")
	b.ReportMetric(windows[len(windows)/2], "median-µs")
	b.ReportMetric(0, "ns/op")
}

func (r *rig) evalsha(sha string, keys, args []string) error {
	command := []any{"EVALSHA", sha, len(keys)}
	for _, k := range keys {
		command = append(command, k)
	}
	for _, a := range args {
		command = append(command, a)
	}
	return r.client.Do(context.Background(), command...).Err()
}

var evalshaMicros = regexp.MustCompile(`cmdstat_evalsha:calls=\d+,usec=(\d+)`)

// micros is the time that the server has spent on EVALSHA since it began to count.
func (r *rig) micros(b *testing.B) float64 {
	b.Helper()
	text, err := r.client.Info(context.Background(), "commandstats").Result()
	if err != nil {
		b.Fatal(err)
	}
	m := evalshaMicros.FindStringSubmatch(text)
	if m == nil {
		b.Fatalf("no EVALSHA in %q", text)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}
