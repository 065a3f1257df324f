package engine

import (
	"fmt"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/membership/static"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
	"google.golang.org/grpc"
)

// clusterName is what the database calls the one cluster in it.
const clusterName = "active"

// sqlConfig is how the server opens the database.
func (s serverSpec) sqlConfig() *config.SQL {
	return &config.SQL{
		PluginName:   sqliteplugin.PluginName,
		DatabaseName: escapePath(s.database),
		ConnectAttributes: map[string]string{
			"mode":         "rw",
			"busy_timeout": busyTimeout,
			"journal_mode": journalMode,
			"synchronous":  synchronous,
			// The server keeps one connection per distinct set of attributes for
			// as long as the process lives, even after it was stopped. If the
			// file was replaced since, that connection would still write to the
			// old one. SQLite ignores a pragma that it does not know.
			"opening": "at_" + s.opening, // a name: the value must not look like a number
		},
	}
}

// options puts the server together.
func (s serverSpec) options(p ports, fatal func(error), interceptor grpc.UnaryServerInterceptor) ([]temporal.ServerOption, error) {
	sql := s.sqlConfig()
	ns, err := sqlite.NewNamespaceConfig(clusterName, s.namespace, false, nil)
	if err != nil {
		return nil, fmt.Errorf("describe the namespace: %w", err)
	}
	if err := sqlite.CreateNamespaces(sql, ns); err != nil {
		return nil, fmt.Errorf("make the namespace: %w", err)
	}
	return []temporal.ServerOption{
		temporal.WithConfig(serverConfig(sql, p)),
		temporal.ForServices(services()),
		temporal.WithStaticHosts(map[primitives.ServiceName]static.Hosts{
			primitives.FrontendService: static.SingleLocalHost(address(p.frontend)),
			primitives.HistoryService:  static.SingleLocalHost(address(p.history)),
			primitives.MatchingService: static.SingleLocalHost(address(p.matching)),
			// It does not run, but its place must be named.
			primitives.WorkerService: static.SingleLocalHost(address(p.frontend)),
		}),
		temporal.WithLogger(serverLog{to: s.log.With("part", "server"), fatal: fatal}),
		temporal.WithDynamicConfigClient(s.settings),
		temporal.WithTLSConfigFactory(s.access),
		temporal.WithClaimMapper(s.access.claimMapper(s.token)),
		temporal.WithAuthorizer(ownerOnly{}),
		temporal.WithChainedFrontendGrpcInterceptors(interceptor),
		temporal.WithAdditionalStreamInterceptors(refuseStreams),
	}, nil
}

func serverConfig(sql *config.SQL, p ports) *config.Config {
	service := func(port int) config.Service {
		return config.Service{RPC: config.RPC{
			GRPCPort: port,
			BindOnIP: loopback, // not BindOnLocalHost: that one heeds an environment variable
			HTTPPort: 0,        // no HTTP API
		}}
	}
	return &config.Config{
		Global: config.Global{
			Membership: config.Membership{BroadcastAddress: loopback},
		},
		Persistence: config.Persistence{
			DefaultStore:     sqliteplugin.PluginName,
			VisibilityStore:  sqliteplugin.PluginName,
			NumHistoryShards: 1,
			DataStores:       map[string]config.DataStore{sqliteplugin.PluginName: {SQL: sql}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {
					Enabled:                true,
					InitialFailoverVersion: 1,
					// For other clusters to call. There are none, and a fixed
					// value saves a write at every start.
					RPCAddress: address(1),
				},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services: map[string]config.Service{
			string(primitives.FrontendService): service(p.frontend),
			string(primitives.HistoryService):  service(p.history),
			string(primitives.MatchingService): service(p.matching),
		},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
		PublicClient: config.PublicClient{HostPort: address(p.frontend)},
	}
}
