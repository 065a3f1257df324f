package workflow

import (
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"temporal-sandbox-agent/backend/protocol"
)

// Register makes the workflows known to a worker under their constant names.
func Register(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(SessionManagerWorkflow, workflow.RegisterOptions{Name: protocol.SessionManagerWorkflow})
	r.RegisterWorkflowWithOptions(AgentWorkflow, workflow.RegisterOptions{Name: protocol.AgentWorkflow})
}
