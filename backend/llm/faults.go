package llm

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

// service is who a fault speaks of.
type service struct {
	// label is its name for the user ("OpenAI", "Ollama").
	label string
	// baseURL is shown: without a password.
	baseURL string
	model   string
	key     string
	// local is true when it runs on this machine.
	local bool
}

// shownURL is a base URL as it may be shown.
func shownURL(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	return u.Redacted()
}

// What can end an answer besides the network and the service's own errors.
var (
	errLength  = errors.New("the answer reached the length limit")
	errEmpty   = errors.New("the answer is empty")
	errGarbage = errors.New("the answer can't be read")
)

// refused is an answer in which the model declines.
type refused struct{ text string }

func (r *refused) Error() string { return r.text }

// fault classifies an error, once, for everybody. parent is the context of who
// called: when it has ended, that is the cause.
func (s service) fault(parent context.Context, err error) *protocol.Fault {
	var known *protocol.Fault
	if errors.As(err, &known) {
		return known
	}
	f := s.classify(parent, err)
	f.Detail = redact(f.Detail, s.key)
	return f
}

func (s service) classify(parent context.Context, err error) *protocol.Fault {
	if errors.Is(parent.Err(), context.Canceled) {
		return &protocol.Fault{Class: protocol.ClassCancelled, Happened: "The request was stopped"}
	}
	var (
		bad     *badAnswer
		api     *apiError
		decline *refused
	)
	switch {
	case errors.As(err, &decline):
		return s.refusalFault(decline.text)
	case errors.As(err, &bad):
		return s.badAnswerFault(bad)
	case errors.As(err, &api):
		return s.apiFault(*api, 0, nil)
	case errors.Is(err, errLength):
		return &protocol.Fault{
			Class: protocol.ClassRequest, Happened: "The answer was cut off: it reached the longest length that " + s.label + " allows",
			Remedy: "Ask for it in smaller parts, or choose another model.", Detail: err.Error(),
		}
	case errors.Is(err, errEmpty):
		return &protocol.Fault{
			Class: protocol.ClassRequest, Happened: s.modelWords() + " gave an empty answer",
			Remedy: "Try again, or choose another model.", Detail: err.Error(),
		}
	case errors.Is(err, errGarbage), errors.Is(err, bufio.ErrTooLong), isJSONError(err):
		return &protocol.Fault{
			Class: protocol.ClassConnection, Happened: s.label + " sent an answer that can't be read",
			Remedy: "If it happens again, check what is between this machine and " + s.label + ", such as a proxy.", Detail: err.Error(),
		}
	default:
		return s.netFault(err)
	}
}

func isJSONError(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind)
}

func (s service) modelWords() string {
	if s.model == "" {
		return "The model"
	}
	return "The model " + s.model
}

func (s service) refusalFault(text string) *protocol.Fault {
	return &protocol.Fault{
		Class: protocol.ClassRefusal, Happened: s.modelWords() + " declined to answer",
		Remedy: "Say it another way, or choose another model.", Detail: text,
	}
}

// badAnswerFault reads an HTTP answer that is an error, or not an answer of a
// model at all.
func (s service) badAnswerFault(b *badAnswer) *protocol.Fault {
	if api, ok := parseAPIError(b.Body); ok {
		return s.apiFault(api, b.Status, b.Header)
	}
	text := plainText(b.Body)
	detail := strings.TrimSpace(fmt.Sprintf("HTTP %d %s", b.Status, http.StatusText(b.Status)))
	if text != "" {
		detail += ": " + text
	}
	switch {
	case b.Status >= 300 && b.Status < 400:
		return &protocol.Fault{
			Class: protocol.ClassRequest, Happened: s.label + " sends requests on to another address, where the key must not go",
			Remedy: "Set the base URL to the address that answers.", Detail: detail + " to " + b.Header.Get("Location"),
		}
	case b.Status < 300 && b.ContentType == "text/html":
		return &protocol.Fault{
			Class: protocol.ClassRequest, Happened: s.label + " answered with a web page, not with a model's answer",
			Remedy: s.checkURL(), Detail: detail,
		}
	case b.Status < 300:
		return &protocol.Fault{
			Class: protocol.ClassRequest, Happened: s.label + " did not answer with a stream",
			Remedy: s.checkURL(), Detail: detail,
		}
	}
	f := s.apiFault(apiError{Message: text}, b.Status, b.Header)
	f.Detail = detail
	return f
}

func (s service) checkURL() string {
	return "Check the base URL (" + s.baseURL + "); it usually ends in /v1."
}

// apiFault makes the fault of an error that the service described. Status is 0
// when the error came inside a stream.
func (s service) apiFault(e apiError, status int, h http.Header) *protocol.Fault {
	class := classOf(e, status)
	f := &protocol.Fault{Class: class, Detail: apiDetail(e, status)}
	if class == protocol.ClassBadKey && s.key == "" {
		class, f.Class = protocol.ClassNoKey, protocol.ClassNoKey
	}
	if class == protocol.ClassRateLimit || class == protocol.ClassOverloaded {
		f.RetryAfter = retryAfter(h, e.Message, time.Now())
	}
	switch class {
	case protocol.ClassNoKey:
		f.Happened, f.Remedy = s.label+" needs a key", "Add the key in the settings."
	case protocol.ClassBadKey:
		f.Happened, f.Remedy = s.label+" refused the key", "Check the key in the settings, or make a new one."
	case protocol.ClassNoModel:
		f.Happened = s.label + " has no model " + quoted(s.model) + ", or your account may not use it"
		f.Remedy = "Choose another model."
		if s.local {
			f.Happened, f.Remedy = s.label+" has no model "+quoted(s.model), "Choose another model, or load this one in "+s.label+"."
		}
	case protocol.ClassQuota:
		f.Happened, f.Remedy = "The credit of your "+s.label+" account is used up", "Add credit or raise the limit at "+s.label+", or choose another provider."
	case protocol.ClassRateLimit:
		f.Happened, f.Remedy = s.label+" gets too many requests from your account", "It is tried again after a wait."
	case protocol.ClassOverloaded:
		f.Happened, f.Remedy = s.label+" is overloaded or failing", "It is tried again after a wait."
		if isLoading(e) {
			f.Happened = s.label + " is still loading the model"
		}
	case protocol.ClassContext:
		f.Happened, f.Remedy = "The conversation is longer than "+s.model+" can take", "It is shortened to a summary; or begin a new session."
		if s.model == "" {
			f.Happened = "The conversation is longer than the model can take"
		}
	case protocol.ClassRefusal:
		f.Happened, f.Remedy = s.label+" declined this request", "Say it another way, or choose another model."
	case protocol.ClassConnection:
		f.Happened, f.Remedy = s.label+" closed the connection before it answered", "It is tried again after a wait."
	default:
		f.Happened, f.Remedy = s.requestWords(e, status)
	}
	return f
}

// requestWords describes a request that was not taken.
func (s service) requestWords(e apiError, status int) (happened, remedy string) {
	switch {
	case lacksTools(e):
		remedy = "Choose a model that can use tools."
		if strings.Contains(strings.ToLower(e.Message), "jinja") {
			remedy = "Start llama.cpp with --jinja, which lets models use tools."
		}
		return s.modelWords() + " can't use tools, which the agent needs", remedy
	case lacksImages(e):
		return s.modelWords() + " can't read images", "Choose a model that takes images, or send the message without them."
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return s.label + " has nothing at this address", s.checkURL()
	case strings.Contains(e.Code, "country"):
		return s.label + " can't be used from your country or region", "Choose another provider."
	default:
		return s.label + " did not take the request", "See the detail; another model may take it."
	}
}

func apiDetail(e apiError, status int) string {
	var parts []string
	if status > 0 {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("HTTP %d %s", status, http.StatusText(status))))
	}
	if e.Code != "" && e.Code != fmt.Sprint(status) {
		parts = append(parts, e.Code)
	} else if e.Type != "" {
		parts = append(parts, e.Type)
	}
	if e.Message != "" {
		parts = append(parts, shorten(plainText([]byte(e.Message)), 1000))
	}
	return strings.Join(parts, ": ")
}

func quoted(s string) string { return "“" + s + "”" }
