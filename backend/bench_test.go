package backend_test

import (
	"testing"

	"temporal-sandbox-agent/backend/protocol"
)

// BenchmarkStep is one tool step of a turn: the model's answer, the command,
// and what is written and scheduled around them. The scripted model runs in the
// same process and is part of the figure.
func BenchmarkStep(b *testing.B) {
	p := start(b, 0)
	p.model.Handle(steps(b.N, "true"))
	b.ResetTimer()
	id := p.create(protocol.ApproveNever, "go")
	p.until(id, "the turn", idle(1))
}
