package engine

import (
	"time"

	dc "go.temporal.io/server/common/dynamicconfig"
)

// pollRPS lifts the limits on how often the history service looks into its own
// queues. At the stock value of 20 a second each activity waits for two polls,
// which makes 100 ms of nothing.
const pollRPS = 1000

// DefaultLongRun is the number of events after which a workflow continues as
// new when it can. After a start a run is replayed at 50 µs an event before its
// next step, so the stock 4,096 would be felt; a new run costs a few
// milliseconds.
const DefaultLongRun = 1500

// crossOff is how often the server deletes the tasks that it is done with. What
// is left of them is looked at again at the next start, and takes up space till
// then: with the usual five minutes a start after 300 new sessions needed an
// extra second. Where there is nothing to delete, nothing is written.
const crossOff = 15 * time.Second

// settings are the server's dynamic configuration. The stock values suit a
// cluster under load; these suit one user on one machine: answer at once, then
// sleep.
func settings(longRun int) dc.StaticClient {
	return dc.StaticClient{
		dc.HistoryCountSuggestContinueAsNew.Key(): longRun,

		// One partition: with the stock four, three have no poller after a
		// start, and a task that lands there waits about a second.
		dc.MatchingNumTaskqueueReadPartitions.Key():  1,
		dc.MatchingNumTaskqueueWritePartitions.Key(): 1,

		// Latency. Timers are late by up to the time shift (stock: 1 s).
		dc.TimerProcessorMaxTimeShift.Key():        10 * time.Millisecond,
		dc.TimerProcessorMaxPollRPS.Key():          pollRPS,
		dc.TransferProcessorMaxPollRPS.Key():       pollRPS,
		dc.VisibilityProcessorMaxPollRPS.Key():     pollRPS,
		dc.OutboundProcessorMaxPollRPS.Key():       pollRPS, // carries the worker commands
		dc.EnableParentClosePolicyWorker.Key():     false,   // there is no worker service
		dc.EnableCancelWorkerPollsOnShutdown.Key(): true,    // a stopping worker orphans no task

		// Streams are refused to everybody, with a status that can be read: see
		// refuseStreams.
		dc.DisableStreamingAuthorizer.Key(): true,

		// A cancelled activity is told by a push instead of its next heartbeat.
		dc.WorkerCommandsEnabled.Key():             true,
		dc.EnableCancelActivityWorkerCommand.Key(): true,

		// Sleep. There is one process, one namespace, one cluster: nothing
		// changes behind the server's back.
		dc.NamespaceCacheRefreshInterval.Key():         10 * time.Minute,
		dc.ClusterMetadataRefreshInterval.Key():        time.Hour,
		dc.MatchingNexusEndpointsRefreshInterval.Key(): time.Hour,
		dc.MatchingUpdateAckInterval.Key():             10 * time.Minute,
		// Not 0: then the server spins on a core for every task queue that it
		// unloads (it does not look at the context after an interrupted sleep).
		dc.MatchingEphemeralDataUpdateInterval.Key():       time.Hour,
		dc.MatchingBacklogMetricsEmitInterval.Key():        time.Duration(0),
		dc.TransferProcessorMaxPollInterval.Key():          30 * time.Minute,
		dc.VisibilityProcessorMaxPollInterval.Key():        30 * time.Minute,
		dc.OutboundProcessorMaxPollInterval.Key():          30 * time.Minute,
		dc.ArchivalProcessorMaxPollInterval.Key():          30 * time.Minute,
		dc.TimerProcessorMaxPollInterval.Key():             30 * time.Minute,
		dc.TransferProcessorUpdateAckInterval.Key():        crossOff,
		dc.VisibilityProcessorUpdateAckInterval.Key():      crossOff,
		dc.OutboundProcessorUpdateAckInterval.Key():        5 * time.Minute,
		dc.ArchivalProcessorUpdateAckInterval.Key():        5 * time.Minute,
		dc.TimerProcessorUpdateAckInterval.Key():           crossOff,
		dc.PersistenceHealthSignalMetricsEnabled.Key():     false,
		dc.PersistenceHealthSignalAggregationEnabled.Key(): false,
		dc.DynamicConfigSubscriptionPollInterval.Key():     time.Hour,
		dc.DeadlockInterval.Key():                          30 * time.Minute,
	}
}
