package workflow

import (
	"go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
)

// A Registry is where workflows are made known: a worker or a test environment. It is declared
// here because the SDK's worker package is more than workflow code may import.
type Registry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
}

// Register makes the workflows known under their constant names.
func Register(r Registry) {
	r.RegisterWorkflowWithOptions(SessionManagerWorkflow, workflow.RegisterOptions{Name: protocol.SessionManagerWorkflow})
	r.RegisterWorkflowWithOptions(AgentWorkflow, workflow.RegisterOptions{Name: protocol.AgentWorkflow})
}
