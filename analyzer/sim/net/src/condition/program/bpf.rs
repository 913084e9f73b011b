//! The classic packet filter, as `-m bpf --bytecode` holds it (`include/uapi/linux/bpf_common.h`).

use super::{Read, Seen};
use crate::condition::Tri;

/// One instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    code: u16,
    yes: u8,
    no: u8,
    value: u32,
}

pub(super) fn parse(text: &str) -> Option<Vec<Instruction>> {
    let mut parts = text.split(',').filter(|part| !part.trim().is_empty());
    let count: usize = parts.next()?.trim().parse().ok()?;
    let one = |part: &str| {
        let words: Vec<&str> = part.split_whitespace().collect();
        let [code, yes, no, value] = words.as_slice() else {
            return None;
        };
        Some(Instruction {
            code: code.parse().ok()?,
            yes: yes.parse().ok()?,
            no: no.parse().ok()?,
            value: value.parse().ok()?,
        })
    };
    let instructions: Vec<Instruction> = parts.map(one).collect::<Option<_>>()?;
    (instructions.len() == count).then_some(instructions)
}

/// Runs the program: what it ends with is the answer. A jump by a number that is not known leaves it open.
pub(super) fn run(instructions: &[Instruction], seen: &Seen) -> Tri {
    let mut machine = Machine::default();
    let mut at = 0usize;
    // Jumps lead forward only, so that it ends.
    while let Some(one) = instructions.get(at) {
        at += 1;
        match machine.step(*one, seen) {
            Some(Next::On) => {}
            Some(Next::Jump(by)) => at = at.saturating_add(by),
            Some(Next::End(value)) => return Tri::of(value != 0),
            None => return Tri::Maybe,
        }
    }
    Tri::Maybe
}

enum Next {
    On,
    Jump(usize),
    End(u32),
}

/// The two registers and the memory; `None` where a number is not known.
#[derive(Default)]
struct Machine {
    a: Option<u32>,
    x: Option<u32>,
    memory: [Option<u32>; 16],
}

impl Machine {
    /// `None` where what follows depends on something that is not known.
    fn step(&mut self, one: Instruction, seen: &Seen) -> Option<Next> {
        match one.code & 0x07 {
            0 => match self.load(one, seen)? {
                Ok(value) => self.a = value,
                Err(end) => return Some(end),
            },
            1 => match self.load(one, seen)? {
                Ok(value) => self.x = value,
                Err(end) => return Some(end),
            },
            2 => *self.cell(one.value)? = self.a,
            3 => *self.cell(one.value)? = self.x,
            4 => self.a = self.computed(one),
            5 => return self.jump(one),
            6 => {
                let value = match one.code & 0x18 {
                    0x10 => self.a?,
                    _ => one.value,
                };
                return Some(Next::End(value));
            }
            _ if one.code & 0xf8 == 0x80 => self.a = self.x,
            _ => self.x = self.a,
        }
        Some(Next::On)
    }

    fn cell(&mut self, at: u32) -> Option<&mut Option<u32>> {
        self.memory.get_mut(usize::try_from(at).ok()?)
    }

    /// The number that an instruction loads; behind the packet's end the program ends with nothing.
    fn load(&mut self, one: Instruction, seen: &Seen) -> Option<Result<Option<u32>, Next>> {
        let width = match one.code & 0x18 {
            0x00 => 4,
            0x08 => 2,
            _ => 1,
        };
        let at = match one.code & 0xe0 {
            0x00 => return Some(Ok(Some(one.value))),
            0x60 => return Some(Ok(*self.cell(one.value)?)),
            0x80 => {
                let length = seen.length.and_then(|length| u32::try_from(length).ok());
                return Some(Ok(length));
            }
            // What lies beside the packet (its mark, its interface) is asked for by numbers below zero.
            0x20 | 0xa0 if one.value >= 0x8000_0000 => return Some(Ok(None)),
            0x20 | 0xa0 => u64::from(one.value),
            0x40 => u64::from(self.x?) + u64::from(one.value),
            _ => return None,
        };
        // Four times the low half of a byte: the length of an IP header.
        let quarter = one.code & 0xe0 == 0xa0;
        Some(match seen.read(at, if quarter { 1 } else { width }) {
            Read::Bits(bits) => Ok((bits.known == u32::MAX).then_some(match quarter {
                true => (bits.value & 0x0f) * 4,
                false => bits.value,
            })),
            Read::Behind => Err(Next::End(0)),
            Read::Unknown => return None,
        })
    }

    fn operand(&self, one: Instruction) -> Option<u32> {
        match one.code & 0x08 {
            0 => Some(one.value),
            _ => self.x,
        }
    }

    fn computed(&self, one: Instruction) -> Option<u32> {
        let (a, by) = (self.a?, self.operand(one)?);
        Some(match one.code & 0xf0 {
            0x00 => a.wrapping_add(by),
            0x10 => a.wrapping_sub(by),
            0x20 => a.wrapping_mul(by),
            0x30 => a.checked_div(by)?,
            0x40 => a | by,
            0x50 => a & by,
            0x60 => a.checked_shl(by)?,
            0x70 => a.checked_shr(by)?,
            0x80 => a.wrapping_neg(),
            0x90 => a.checked_rem(by)?,
            0xa0 => a ^ by,
            _ => return None,
        })
    }

    fn jump(&self, one: Instruction) -> Option<Next> {
        if one.code & 0xf0 == 0 {
            return Some(Next::Jump(usize::try_from(one.value).ok()?));
        }
        let (a, by) = (self.a?, self.operand(one)?);
        let holds = match one.code & 0xf0 {
            0x10 => a == by,
            0x20 => a > by,
            0x30 => a >= by,
            0x40 => a & by != 0,
            _ => return None,
        };
        Some(Next::Jump(usize::from(if holds {
            one.yes
        } else {
            one.no
        })))
    }
}
