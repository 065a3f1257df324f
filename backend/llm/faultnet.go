package llm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"syscall"

	"temporal-sandbox-agent/backend/protocol"
)

// netFault describes a connection that was not made, or was lost.
func (s service) netFault(err error) *protocol.Fault {
	f := &protocol.Fault{Class: protocol.ClassConnection, Detail: err.Error(), Remedy: "It is tried again after a wait."}
	var (
		dns     *net.DNSError
		op      *net.OpError
		address *url.Error
	)
	switch {
	case errors.Is(err, errNoAnswer):
		f.Happened = s.label + " did not begin to answer in time"
	case errors.Is(err, errSilent):
		f.Happened = s.label + " stopped in the middle of its answer"
	case errors.Is(err, errCut), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		f.Happened = "The connection to " + s.label + " was lost"
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Happened = s.label + " can't be reached at " + s.baseURL + ""
		f.Remedy = "Is it running? Check the base URL in the settings."
		if s.local {
			f.Happened, f.Remedy = s.label+" isn't running", "Start "+s.label+", or choose another provider."
		}
	case errors.As(err, &dns):
		f.Happened = "The address of " + s.label + " (" + dns.Name + ") can't be found"
		f.Remedy = "Check the network, and the base URL in the settings."
	case isTLS(err):
		f.Happened = "The connection to " + s.label + " is not secure: its certificate can't be trusted"
		f.Remedy = "Check the base URL, the clock, and any proxy between."
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		f.Happened = s.label + " did not answer in time"
	case errors.As(err, &op):
		f.Happened = s.label + " can't be reached at " + s.baseURL + ""
		f.Remedy = "Check the network, and the base URL in the settings."
	case errors.As(err, &address):
		f.Happened = s.label + " can't be reached at " + s.baseURL + ""
		f.Remedy = "Check the base URL in the settings."
	default:
		f.Happened = "The connection to " + s.label + " was lost"
	}
	return f
}

func isTLS(err error) bool {
	var (
		verify    *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		alert     tls.AlertError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	return errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}
