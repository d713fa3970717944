package model_test

import (
	"testing"
	_ "time/tzdata" // the dates of the traces do not depend on the machine

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/model"
	"github.com/weirhq/weir/storetest"
)

// TestTraces tells the written stories, whose figures were derived by hand, to the model.
func TestTraces(t *testing.T) {
	traces, err := storetest.Traces()
	if err != nil {
		t.Fatal(err)
	}
	for _, trace := range traces {
		t.Run(trace.Name, func(t *testing.T) {
			subject := model.NewLimiter(trace.Limits...)
			now := trace.Start.UnixMicro()
			err := trace.Play(func(step storetest.Step) (figures []weir.Figures, err error) {
				now += step.Advance.Microseconds()
				switch step.Op {
				case storetest.Take:
					subject, figures = subject.Take(now, step.N)
				case storetest.Peek:
					figures = subject.Peek(now, step.N)
				case storetest.Refund:
					subject, figures = subject.Refund(now, step.N)
				case storetest.Charge:
					subject, figures = subject.Charge(now, step.N)
				case storetest.Reset:
					subject = subject.Reset()
				case storetest.Limits:
					subject = subject.Change(step.Limits...)
				}
				return figures, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
