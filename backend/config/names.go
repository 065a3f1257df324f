package config

import (
	"net/url"
	"slices"
	"strings"

	"temporal-sandbox-agent/backend/protocol"
)

// Names of keys and of the settings that go with them, as in the environment.
const (
	KeyOpenAI        = "OPENAI_API_KEY"
	KeyOpenAIBaseURL = "OPENAI_BASE_URL"
	KeyOpenAIOrg     = "OPENAI_ORG_ID"
	KeyOpenAIProject = "OPENAI_PROJECT_ID"

	KeyE2B        = "E2B_API_KEY"
	KeyE2BDomain  = "E2B_DOMAIN"
	KeyE2BURL     = "E2B_API_URL"
	KeyE2BSandbox = "E2B_SANDBOX_URL"

	KeyDaytona       = "DAYTONA_API_KEY"
	KeyDaytonaURL    = "DAYTONA_API_URL"
	KeyDaytonaTarget = "DAYTONA_TARGET"

	// KeyModel is the default model.
	KeyModel = "EXAMPLES_TEMPORAL_MODEL"
	// KeyTrace is the trace mode.
	KeyTrace = "EXAMPLES_TEMPORAL_TRACE"
)

// name is what is known of a name.
type name struct {
	name  string
	label string
	// secret values are kept in the keyring and never shown.
	secret bool
	// redirects is true for a value that says where the key named by key is
	// sent to: it counts only together with that key.
	redirects bool
	key       string
}

func names() []name {
	return []name{
		{name: KeyOpenAI, label: "OpenAI key", secret: true},
		{name: KeyOpenAIBaseURL, label: "OpenAI address", redirects: true, key: KeyOpenAI},
		{name: KeyOpenAIOrg, label: "OpenAI organization", key: KeyOpenAI},
		{name: KeyOpenAIProject, label: "OpenAI project", key: KeyOpenAI},
		{name: KeyE2B, label: "E2B key", secret: true},
		{name: KeyE2BDomain, label: "E2B domain", redirects: true, key: KeyE2B},
		{name: KeyE2BURL, label: "E2B address", redirects: true, key: KeyE2B},
		{name: KeyE2BSandbox, label: "E2B sandbox address", redirects: true, key: KeyE2B},
		{name: KeyDaytona, label: "Daytona key", secret: true},
		{name: KeyDaytonaURL, label: "Daytona address", redirects: true, key: KeyDaytona},
		{name: KeyDaytonaTarget, label: "Daytona region", key: KeyDaytona},
		{name: KeyModel, label: "Default model"},
		{name: KeyTrace, label: "Tracing"},
	}
}

// endpointPrefix begins the names of keys of the user's own servers.
const endpointPrefix = "endpoint:"

// EndpointKey names the key of a server that is in the settings. It holds where
// the server is, so that the key is never sent to another one of that name.
func EndpointKey(e protocol.Endpoint) string {
	origin := e.URL
	if u, err := url.Parse(e.URL); err == nil {
		origin = strings.ToLower(u.Scheme + "://" + u.Host)
	}
	return endpointPrefix + e.Name + "@" + origin
}

func endpointKey(e protocol.Endpoint) name {
	return name{name: EndpointKey(e), label: "Key of " + e.Name, secret: true}
}

func lookUpName(n string) (name, bool) {
	if of, ok := strings.CutPrefix(n, endpointPrefix); ok {
		at := strings.LastIndexByte(of, '@')
		if at < 1 {
			return name{}, false
		}
		return name{name: n, label: "Key of " + of[:at], secret: true}, true
	}
	all := names()
	if i := slices.IndexFunc(all, func(k name) bool { return k.name == n }); i >= 0 {
		return all[i], true
	}
	return name{}, false
}

// Where tells where a value comes from.
type Where string

// The places, in the order in which they are asked.
const (
	WhereEnvironment Where = "environment"
	WhereDotEnv      Where = ".env"
	WhereKeyring     Where = "keyring"
	WhereFile        Where = "file"
	WhereNowhere     Where = ""
)
