//! The functions of a module as Cranelift compiles them, with the relocations to apply where they are loaded: as bytes
//! and back.

use super::error;
use crate::backend::BackendError;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::ir::LibCall;
use cranelift_module::{FuncId as NativeId, ModuleReloc, ModuleRelocTarget};

/// One function, not linked yet. Numbers of functions are those of the order in which they are declared.
pub(super) struct Piece {
    pub id: NativeId,
    pub alignment: u64,
    pub code: Vec<u8>,
    pub relocations: Vec<ModuleReloc>,
}

/// Kinds of relocations that linkers in memory know, by the number that stands for them.
const KINDS: [Reloc; 12] = [
    Reloc::Abs4,
    Reloc::Abs8,
    Reloc::X86PCRel4,
    Reloc::X86CallPCRel4,
    Reloc::X86CallPLTRel4,
    Reloc::X86GOTPCRel4,
    Reloc::Arm64Call,
    Reloc::Aarch64AdrGotPage21,
    Reloc::Aarch64Ld64GotLo12Nc,
    Reloc::Aarch64AdrPrelPgHi21,
    Reloc::Aarch64AddAbsLo12Nc,
    Reloc::RiscvCallPlt,
];

pub(super) fn write(pieces: &[Piece]) -> Result<Vec<u8>, BackendError> {
    let mut out = Vec::new();
    word(&mut out, pieces.len());
    for piece in pieces {
        word(&mut out, piece.id.as_u32() as usize);
        word(&mut out, piece.alignment as usize);
        word(&mut out, piece.code.len());
        out.extend_from_slice(&piece.code);
        word(&mut out, piece.relocations.len());
        for r in &piece.relocations {
            let unknown = || error(format!("the relocation {:?} of {} has no number", r.kind, r.name));
            word(&mut out, r.offset as usize);
            word(&mut out, KINDS.iter().position(|k| *k == r.kind).ok_or_else(unknown)?);
            let (space, first, second) = match r.name {
                ModuleRelocTarget::User { namespace, index } => (0, namespace, index),
                ModuleRelocTarget::FunctionOffset(id, offset) => (1, id.as_u32(), offset),
                ModuleRelocTarget::LibCall(call) => {
                    let at = LibCall::all_libcalls().iter().position(|c| *c == call).ok_or_else(unknown)?;
                    (2, at as u32, 0)
                }
                ModuleRelocTarget::KnownSymbol(_) => return Err(unknown()),
            };
            [space, first, second].iter().for_each(|&n| word(&mut out, n as usize));
            out.extend_from_slice(&r.addend.to_le_bytes());
        }
    }
    Ok(out)
}

/// Lengths and numbers here fit 32 bits: code is bounded long before.
fn word(out: &mut Vec<u8>, n: usize) {
    out.extend_from_slice(&(n as u32).to_le_bytes());
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<Piece>, BackendError> {
    Reader { rest: bytes }.pieces().ok_or_else(|| error("this is no code of Cranelift's"))
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn pieces(&mut self) -> Option<Vec<Piece>> {
        let pieces = (0..self.word()?).map(|_| self.piece()).collect::<Option<_>>()?;
        self.rest.is_empty().then_some(pieces)
    }

    fn piece(&mut self) -> Option<Piece> {
        let id = NativeId::from_u32(self.word()?);
        let alignment = u64::from(self.word()?);
        let length = self.word()? as usize;
        let code = self.take(length)?.to_vec();
        let relocations = (0..self.word()?).map(|_| self.relocation(length)).collect::<Option<_>>()?;
        Some(Piece { id, alignment, code, relocations })
    }

    fn relocation(&mut self, length: usize) -> Option<ModuleReloc> {
        let offset = self.word()?;
        let kind = *KINDS.get(self.word()? as usize)?;
        let (space, first, second) = (self.word()?, self.word()?, self.word()?);
        let name = match space {
            0 => ModuleRelocTarget::User { namespace: first, index: second },
            1 => ModuleRelocTarget::FunctionOffset(NativeId::from_u32(first), second),
            2 => ModuleRelocTarget::LibCall(*LibCall::all_libcalls().get(first as usize)?),
            _ => return None,
        };
        let addend = i64::from_le_bytes(self.take(8)?.try_into().ok()?);
        // Every kind fills in at least four bytes.
        let inside = (offset as usize).checked_add(4).is_some_and(|end| end <= length);
        inside.then_some(ModuleReloc { offset, kind, name, addend })
    }

    fn word(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.rest.split_at_checked(n)?;
        self.rest = tail;
        Some(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_reads_back_and_what_is_cut_off_does_not() {
        let target = [
            ModuleRelocTarget::User { namespace: 0, index: 7 },
            ModuleRelocTarget::FunctionOffset(NativeId::from_u32(3), 9),
            ModuleRelocTarget::LibCall(LibCall::FloorF32),
        ];
        let relocation = |(i, name)| ModuleReloc { offset: i as u32, kind: KINDS[i], name, addend: -(i as i64) };
        let relocations: Vec<ModuleReloc> = target.into_iter().enumerate().map(relocation).collect();
        let piece = |n: u32| Piece {
            id: NativeId::from_u32(n),
            alignment: 16,
            code: vec![n as u8; 8 + n as usize],
            relocations: relocations.clone(),
        };
        let bytes = write(&[piece(4), piece(5)]).expect("all of it has numbers");
        let back = read(&bytes).expect("it was just written");
        assert_eq!(write(&back).expect("likewise"), bytes);
        assert_eq!((back[1].id.as_u32(), &back[1].code[..]), (5, &[5u8; 13][..]));
        assert!((0..bytes.len()).all(|n| read(&bytes[..n]).is_err()));
    }
}
