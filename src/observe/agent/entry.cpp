// The way from a patched site into the agent and back, with unwind tables, so that a cancelled thread or a
// debugger can walk through it.
//
// A site is `mov $number,%eax; syscall` (or its other form, sites.h). Only the mov is overwritten (5 bytes:
// jmp to the site's trampoline); the syscall stays, so code that jumps right to it still works. rax, rcx and
// r11 are free at this point: rax will be the result, the syscall overwrites the others. Everything else is
// kept, and 128 bytes below the stack pointer are left alone (red zone). rcx is the address behind the
// syscall on return, as after the real one. Flags are not kept: every compiler counts them as overwritten by
// inline assembly on this machine. No call without its return: shadow stacks stay in step.
#include "observe/agent/state.h"

__asm__(R"(
        .text
        .p2align 4
        .globl  hallmark_agent_trampolines
        .hidden hallmark_agent_trampolines
        .type   hallmark_agent_trampolines, @function
hallmark_agent_trampolines:
        .set    trampoline, 0
        .rept   32
        lea     -128(%rsp), %rsp
        push    $trampoline
        jmp     hallmark_agent_entry
        .p2align 4
        .set    trampoline, trampoline + 1
        .endr
        .size   hallmark_agent_trampolines, . - hallmark_agent_trampolines

        .type   hallmark_agent_entry, @function
hallmark_agent_entry:
        .cfi_startproc
        .cfi_def_cfa rsp, 136
        .cfi_undefined rip
        mov     (%rsp), %eax
        lea     hallmark_agent_back(%rip), %rcx
        mov     (%rcx,%rax,8), %rcx
        mov     %rcx, (%rsp)
        .cfi_offset rip, -136
        push    %r9
        .cfi_adjust_cfa_offset 8
        push    %r8
        .cfi_adjust_cfa_offset 8
        push    %r10
        .cfi_adjust_cfa_offset 8
        push    %rdx
        .cfi_adjust_cfa_offset 8
        push    %rsi
        .cfi_adjust_cfa_offset 8
        push    %rdi
        .cfi_adjust_cfa_offset 8
        push    %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        mov     %rsp, %rbx
        .cfi_def_cfa_register rbx
        lea     8(%rsp), %rdi
        mov     %eax, %esi
        and     $-16, %rsp
        call    hallmark_agent_hook
        mov     %rbx, %rsp
        .cfi_def_cfa_register rsp
        pop     %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        pop     %rdi
        .cfi_adjust_cfa_offset -8
        pop     %rsi
        .cfi_adjust_cfa_offset -8
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %r10
        .cfi_adjust_cfa_offset -8
        pop     %r8
        .cfi_adjust_cfa_offset -8
        pop     %r9
        .cfi_adjust_cfa_offset -8
        pop     %rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register rip, rcx
        lea     128(%rsp), %rsp
        .cfi_adjust_cfa_offset -128
        notrack jmp *%rcx
        .cfi_endproc
        .size   hallmark_agent_entry, . - hallmark_agent_entry
)");

static_assert(hallmark::observe::ring::kSitesPerLibrary == 32, "the .rept above");
