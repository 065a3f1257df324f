package trace

import (
	"context"
	"errors"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

const (
	workflowName = "Temporal Sandbox Agent"
	agentName    = "Sandbox agent"
)

// openAI makes OpenAI's spans of ours:
//
//	task (the turn) > agent > step (a model call and its tools) > generation, function
//
// A parent may be sent after its children: it ends after them.
type openAI struct {
	mode   func() Mode
	export *exporter
	turns  openTurns
}

func (o *openAI) on() bool {
	m := o.mode()
	return m == ModeOpenAI || m == ModeTemporal
}

// Turn implements Tracer.
func (o *openAI) Turn(s TurnSpan) {
	if !o.on() {
		return
	}
	ids := turnIDs{s.SessionID, s.TurnID}
	o.begin(ids)
	if step, ok := o.turns.end(ids); ok {
		o.step(ids, step)
	}
	var fault *wireError
	if s.Fault != nil {
		fault = errorOf(s.Fault)
	}
	tools := s.Tools
	if tools == nil {
		tools = []string{}
	}
	task := ids.task()
	send(o.export, spanOf(ids, ids.agent(), &task, s.started(), s.Ended, fault, agentData{
		Type: "agent", Name: agentName, Handoffs: []string{}, Tools: tools, OutputType: "str",
	}))
	send(o.export, spanOf(ids, task, nil, s.started(), s.Ended, fault, customData[taskData]{
		Type: "custom", Name: workflowName,
		Data: taskData{SDKSpanType: "task", SessionID: s.SessionID, TurnID: s.TurnID, Turn: s.Index, Outcome: s.Outcome},
	}))
	o.temporal(ids, task, &task, s.started(), s.Ended, fault, "temporal:executeWorkflow:"+protocol.AgentWorkflow, temporalData{})
}

// Model implements Tracer.
func (o *openAI) Model(s ModelSpan) {
	if !o.on() {
		return
	}
	ids := turnIDs{s.SessionID, s.TurnID}
	o.begin(ids)
	if before, ok := o.turns.next(ids, s.Step, s.Started, s.Ended); ok {
		o.step(ids, before)
	}
	data := generationData{
		Type: "generation", Input: cutMessages(s.Input), Output: cutMessages(s.Output), Model: s.Model,
		ModelConfig: &modelConfig{Provider: s.Provider},
	}
	if s.InputTokens > 0 || s.OutputTokens > 0 {
		data.Usage = &usage{s.InputTokens, s.OutputTokens}
	}
	parent, id := ids.step(s.Step), ids.model(s.Step, s.Attempt)
	fault := errorOf(s.Err)
	send(o.export, spanOf(ids, id, &parent, s.Started, s.Ended, fault, data))
	o.temporal(ids, id, &parent, s.Started, s.Ended, fault, "temporal:executeActivity:"+protocol.ActivityCallModel, temporalData{
		ActivityType: protocol.ActivityCallModel, Attempt: s.Attempt,
	})
}

// Tool implements Tracer.
func (o *openAI) Tool(s ToolSpan) {
	if !o.on() {
		return
	}
	ids := turnIDs{s.SessionID, s.TurnID}
	o.begin(ids)
	parent := ids.agent()
	if s.Step > 0 {
		parent = ids.step(s.Step)
	}
	o.turns.extend(ids, s.Step, s.Ended)
	id, fault := ids.tool(s.CallID), errorOf(s.Err)
	send(o.export, spanOf(ids, id, &parent, s.Started, s.Ended, fault, functionData{
		Type: "function", Name: s.Name, Input: cutText(s.Input, maxFieldBytes), Output: cutText(s.Output, maxFieldBytes),
	}))
	o.temporal(ids, id, &parent, s.Started, s.Ended, fault, "temporal:executeActivity:"+protocol.ActivityRunTool, temporalData{
		ActivityType: protocol.ActivityRunTool,
	})
}

// Close implements Tracer.
func (o *openAI) Close(ctx context.Context) error {
	for ids, step := range o.turns.all() {
		o.step(ids, step)
	}
	return o.export.close(ctx)
}

// begin tells of the trace before its first span.
func (o *openAI) begin(ids turnIDs) {
	if !o.turns.begin(ids) {
		return
	}
	send(o.export, wireTrace{
		Object: "trace", ID: traceID(ids.trace()), WorkflowName: workflowName, GroupID: groupID(ids.session),
		Metadata: &wireMetadata{SessionID: ids.session, TurnID: ids.turn},
	})
}

func (o *openAI) step(ids turnIDs, s openStep) {
	parent := ids.agent()
	send(o.export, spanOf(ids, ids.step(s.number), &parent, s.started, s.ended, nil, customData[stepData]{
		Type: "custom", Name: "turn", Data: stepData{SDKSpanType: "turn", Turn: s.number, AgentName: agentName},
	}))
}

// temporal adds the engine's span beside another one. The agent's own spans do
// not hang on it: they are the same in both modes.
func (o *openAI) temporal(ids turnIDs, of [32]byte, parent *[32]byte, started, ended time.Time, fault *wireError, name string, data temporalData) {
	if o.mode() != ModeTemporal {
		return
	}
	data.WorkflowID = protocol.AgentID(ids.session)
	data.WorkflowType = protocol.AgentWorkflow
	data.TaskQueue = protocol.TaskQueue
	send(o.export, spanOf(ids, temporal(of), parent, started, ended, fault, customData[temporalData]{Type: "custom", Name: name, Data: data}))
}

func spanOf[D any](ids turnIDs, id [32]byte, parent *[32]byte, started, ended time.Time, fault *wireError, data D) wireSpan[D] {
	s := wireSpan[D]{
		Object: "trace.span", ID: spanID(id), TraceID: traceID(ids.trace()),
		StartedAt: isoTime(started), EndedAt: isoTime(ended), SpanData: data, Error: fault,
	}
	if parent != nil {
		p := spanID(*parent)
		s.ParentID = &p
	}
	return s
}

// maxErrorBytes is how much of an error's texts is sent.
const maxErrorBytes = 4 << 10

func errorOf(err error) *wireError {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*protocol.Fault](err); ok {
		return &wireError{
			Message: cutText(f.Happened, maxErrorBytes),
			Data:    &wireErrorData{Class: string(f.Class), Detail: cutText(f.Detail, maxErrorBytes)},
		}
	}
	return &wireError{Message: cutText(err.Error(), maxErrorBytes)}
}
