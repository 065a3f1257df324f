//go:build linux && lazywebkit

#define FUNCTION(name) \
	.globl name; .hidden name; .type name, @function; \
	name: jmp *tsa_address_of_##name(%rip); \
	.size name, . - name;

	.text
#include "functions.h"
	.section .note.GNU-stack, "", @progbits
