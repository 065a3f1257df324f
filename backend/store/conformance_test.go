package store_test

import (
	"path/filepath"
	"testing"

	"temporal-sandbox-agent/backend/store"
	"temporal-sandbox-agent/backend/store/storetest"
)

func TestConformance(t *testing.T) {
	root := t.TempDir()
	storetest.Run(t, func(t *testing.T, name string) store.Store {
		s, notices, err := store.Open(t.Context(), filepath.Join(root, name))
		if err != nil || len(notices) != 0 {
			t.Fatalf("open: %+v, %v", notices, err)
		}
		return s
	})
}
