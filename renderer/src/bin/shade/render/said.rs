//! What shaders printed with `printf`.

use renderer::integrator::messages::{Message, MessagePlace};

/// A line for each message of the shaders, with the first pixel and sample that it comes from.
pub fn said(messages: &[Message], (total, dropped): (u64, bool)) -> String {
    let mut out = String::new();
    for m in messages {
        let MessagePlace { y, x, sample, .. } = m.place;
        let times = if m.count > 1 && !dropped { format!(" ({} times)", m.count) } else { String::new() };
        out.push_str(&format!("pixel {x},{y} sample {sample}: {}{times}\n", m.text.trim_end()));
    }
    if dropped {
        out.push_str(&format!("of {total} messages, the first {} that differ are shown\n", messages.len()));
    }
    out
}
