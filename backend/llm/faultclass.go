package llm

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"temporal-sandbox-agent/backend/protocol"
)

// codeClass holds the codes and types that say by themselves what happened.
func codeClass(code string) (protocol.Class, bool) {
	switch code {
	case "invalid_api_key", "invalid_authentication", "authentication_error", "account_deactivated", "token_expired":
		return protocol.ClassBadKey, true
	case "unsupported_country_region_territory":
		return protocol.ClassRequest, true
	case "model_not_found", "model_not_available", "unsupported_model", "model_not_supported":
		return protocol.ClassNoModel, true
	case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "usage_limit_reached", "usage_not_included", "insufficient_balance", "insufficient_credits":
		return protocol.ClassQuota, true
	case "context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "string_above_max_length", "array_above_max_length", "request_too_large", "rate_limit_request_too_large":
		return protocol.ClassContext, true
	case "rate_limit_exceeded", "rate_limit_error", "requests", "tokens", "too_many_requests":
		return protocol.ClassRateLimit, true
	case "server_is_overloaded", "slow_down", "overloaded", "overloaded_error", "engine_overloaded", "server_error", "internal_error", "internal_server_error", "service_unavailable", "unavailable_error", "vector_store_timeout":
		return protocol.ClassOverloaded, true
	case "content_filter", "content_policy_violation", "image_content_policy_violation", "invalid_prompt", "bio_policy", "cyber_policy", "misalignment_policy_violation", "moderation_blocked":
		return protocol.ClassRefusal, true
	}
	return "", false
}

// What services say in words only. Expressions are compiled when they are first
// used: the start of the app must not wait for what it may never need.
var (
	contextWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)maximum context length|context[ _-]?(length|window|size)[^.]{0,40}(exceed|too|longer|limit|overflow)|exceed(s|ed)?[^.]{0,60}context|(prompt|input|request|conversation|message)s? (is|are|was|were) too (long|large)|input length[^.]{0,60}(exceed|maximum)|too many (input |prompt )?tokens|exceeds? the (model'?s )?max(imum)?[^.]{0,40}tokens?|request too large for|n_ctx|max_model_len|context the overflows|keep the first \d+ tokens|reduce the length of (the|your)`)
	})
	modelWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)model\b[^\n]{0,120}\b(not found|does ?n[o']t exist|do not have access|not have access|is not available|not exist|not loaded)|requested model is not supported|no such model|access to (the )?model\b|(unknown|invalid) model|no models? loaded|try pulling it first|not a valid model`)
	})
	quotaWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)exceeded your current quota|billing|insufficient (balance|credit|fund|quota)|(credit|balance)[^.]{0,40}(too low|exhausted|used up)|out of credits|requires more credits`)
	})
	keyWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(invalid|incorrect|wrong|missing|expired|malformed|not valid)[^.]{0,20}(api[ _-]?key|token|credential)|api[ _-]?key[^.]{0,20}(invalid|incorrect|not valid|expired)`)
	})
	toolWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)does ?n[o']t support (tool|function)|(tool|function)s?( use| calling| calls?| choice)? (is|are) not supported|not support (tool|function)|no endpoints found that support tool|tools param requires|"?auto"? tool choice requires|tool-call-parser`)
	})
	imageWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(image|vision|multimodal|mmproj)[^.]{0,60}(not support|unsupported|does ?n[o']t support|is not (available|enabled)|not a (vision|multimodal))|(does ?n[o']t|not) support[^.]{0,30}(image|vision|multimodal)|not a (vision|multimodal) model|at most 0 image|unknown variant .?image_url|image_url is only supported`)
	})
	loadingWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)loading (the )?model|model is (still |currently )?loading`)
	})
	refusalWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)flagged (as|by|for)|content (policy|filter|management)|safety (system|policy)|usage polic`)
	})
	slowWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)overloaded|at capacity|temporarily unavailable|try again later|server (is )?busy|slow down`)
	})
)

func lacksTools(e apiError) bool  { return toolWords().MatchString(e.Message) }
func lacksImages(e apiError) bool { return imageWords().MatchString(e.Message) }
func isLoading(e apiError) bool   { return loadingWords().MatchString(e.Message) }

// classOf decides the class of an error: by what it says of itself, then by its
// status. Status is 0 for an error inside a stream.
func classOf(e apiError, status int) protocol.Class {
	if status == 0 { // some put the status where the code belongs
		if n, err := strconv.Atoi(e.Code); err == nil && n >= 400 && n < 600 {
			status = n
		}
	}
	// A request that is larger than a minute's allowance never fits by waiting.
	tooLarge := strings.Contains(e.Message, "Request too large")
	if !tooLarge {
		for _, code := range []string{e.Code, e.Type} {
			if c, ok := codeClass(code); ok && !generic(code, e, status) {
				return c
			}
		}
	}
	if c, ok := classOfWords(e, status); ok {
		return c
	}
	return classOfStatus(status)
}

// generic codes come with many causes; what the message says is more exact.
func generic(code string, e apiError, status int) bool {
	switch code {
	case "server_error", "internal_error", "internal_server_error", "invalid_prompt", "unavailable_error":
		_, ok := classOfWords(e, status)
		return ok
	}
	return false
}

func classOfWords(e apiError, status int) (protocol.Class, bool) {
	m := e.Message
	switch {
	case m == "":
		return "", false
	case quotaWords().MatchString(m):
		return protocol.ClassQuota, true
	case isLoading(e):
		return protocol.ClassOverloaded, true
	case lacksTools(e), lacksImages(e):
		return protocol.ClassRequest, true
	case contextWords().MatchString(m):
		return protocol.ClassContext, true
	case status == http.StatusTooManyRequests:
		return protocol.ClassRateLimit, true
	case modelWords().MatchString(m):
		return protocol.ClassNoModel, true
	case keyWords().MatchString(m):
		return protocol.ClassBadKey, true
	case refusalWords().MatchString(m) && status < 500:
		return protocol.ClassRefusal, true
	case slowWords().MatchString(m) && (status == 0 || status >= 500):
		return protocol.ClassOverloaded, true
	}
	return "", false
}

func classOfStatus(status int) protocol.Class {
	switch {
	case status == 0:
		// An error in a stream that names no cause is the service's trouble.
		return protocol.ClassOverloaded
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return protocol.ClassBadKey
	case status == http.StatusPaymentRequired:
		return protocol.ClassQuota
	case status == http.StatusRequestTimeout:
		return protocol.ClassConnection
	case status == http.StatusConflict, status == http.StatusTooEarly:
		return protocol.ClassOverloaded
	case status == http.StatusRequestEntityTooLarge:
		return protocol.ClassContext
	case status == http.StatusTooManyRequests:
		return protocol.ClassRateLimit
	case status == http.StatusNotImplemented:
		return protocol.ClassRequest
	case status >= 500:
		return protocol.ClassOverloaded
	default:
		return protocol.ClassRequest
	}
}
