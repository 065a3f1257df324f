package docker

import "temporal-sandbox-agent/sandbox"

// resultOf takes a code over 128 for the signal that ended the command, as a
// shell has it.
func resultOf(code int) sandbox.Result {
	return sandbox.Result{ExitCode: code, Signal: signalName(code - 128)}
}

// signalName is the name of a signal in a container, which is a Linux system
// wherever the app runs; "" if there is none.
func signalName(n int) string {
	names := [...]string{
		1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
		10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 16: "SIGSTKFLT", 17: "SIGCHLD",
		18: "SIGCONT", 19: "SIGSTOP", 20: "SIGTSTP", 21: "SIGTTIN", 22: "SIGTTOU", 23: "SIGURG", 24: "SIGXCPU", 25: "SIGXFSZ",
		26: "SIGVTALRM", 27: "SIGPROF", 28: "SIGWINCH", 29: "SIGIO", 30: "SIGPWR", 31: "SIGSYS",
	}
	if n < 0 || n >= len(names) {
		return ""
	}
	return names[n]
}
