//go:build linux && lazywebkit

// x16 is the register that calls between libraries may use.
#define FUNCTION(name) \
	.globl name; .hidden name; .type name, %function; \
	name: adrp x16, tsa_address_of_##name; \
	ldr x16, [x16, :lo12:tsa_address_of_##name]; \
	br x16; \
	.size name, . - name;

	.text
#include "functions.h"
	.section .note.GNU-stack, "", %progbits
