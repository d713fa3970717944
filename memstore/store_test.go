package memstore_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/memstore"
	"github.com/weirhq/weir/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T, body func(*testing.T, storetest.Rig)) {
		synctest.Test(t, func(t *testing.T) {
			store := memstore.MustNew(memstore.Options{})
			defer store.Close()
			body(t, storetest.Rig{Store: store, Advance: time.Sleep, Now: time.Now})
		})
	})
}
