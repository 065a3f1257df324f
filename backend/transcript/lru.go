package transcript

import (
	"container/list"
	"sync"
)

// lru keeps what was used last, up to a sum of costs. It is safe for
// concurrent use.
type lru[K comparable, V any] struct {
	mu    sync.Mutex
	limit int
	cost  int
	order *list.List // of *entry, the last used first
	byKey map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
	cost  int
}

func newLRU[K comparable, V any](limit int) *lru[K, V] {
	return &lru[K, V]{limit: limit, order: list.New(), byKey: map[K]*list.Element{}}
}

func (c *lru[K, V]) get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		c.order.MoveToFront(e)
		return e.Value.(*entry[K, V]).value, true
	}
	var zero V
	return zero, false
}

// getOrAdd returns what is there, or adds what make returns.
func (c *lru[K, V]) getOrAdd(key K, make func() (V, int)) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		c.order.MoveToFront(e)
		return e.Value.(*entry[K, V]).value
	}
	value, cost := make()
	c.insert(key, value, cost)
	return value
}

// add keeps value unless it alone is more than the limit.
func (c *lru[K, V]) add(key K, value V, cost int) {
	if cost > c.limit {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		c.drop(e)
	}
	c.insert(key, value, cost)
}

func (c *lru[K, V]) insert(key K, value V, cost int) {
	c.byKey[key] = c.order.PushFront(&entry[K, V]{key, value, cost})
	c.cost += cost
	for c.cost > c.limit && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
}

func (c *lru[K, V]) remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		c.drop(e)
	}
}

func (c *lru[K, V]) drop(e *list.Element) {
	old := c.order.Remove(e).(*entry[K, V])
	delete(c.byKey, old.key)
	c.cost -= old.cost
}
