//! `--tev HOST:PORT`: shows the picture in tev while it is rendered. Whatever tev does, the render continues.

use crate::outcome::Outcome;
use renderer::film::{Film, tev};
use std::io::{BufWriter, Error, ErrorKind, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the picture is shown.
pub const EVERY: Duration = Duration::from_millis(500);
/// How long tev may take for a message, and for all of a picture.
const PATIENCE: Duration = Duration::from_secs(2);
const PATIENCE_IN_ALL: Duration = Duration::from_secs(5);

pub struct Tev {
    address: String,
    /// Of the picture.
    name: String,
    frame: (u32, u32),
    state: Mutex<State>,
}

enum State {
    Unconnected,
    /// With the samples of each tile that were shown.
    Connected(TcpStream, Vec<u64>),
    Lost(String),
}

impl Tev {
    pub fn new(address: &str, picture: &Path, frame: (u32, u32)) -> Tev {
        let name = picture.display().to_string();
        Tev { address: address.to_owned(), name, frame, state: Mutex::new(State::Unconnected) }
    }

    /// Sends the tiles that have changed; after the first failure nothing more.
    pub fn show(&self, film: &Film) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(e) = self.try_to_show(&mut state, film) {
            let why = match e.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => "it does not answer in time".to_owned(),
                _ => e.to_string(),
            };
            *state = State::Lost(why);
        }
    }

    fn try_to_show(&self, state: &mut State, film: &Film) -> Result<(), Error> {
        if let State::Unconnected = state {
            *state = State::Connected(self.connect()?, vec![0; film.tile_count()]);
        }
        let State::Connected(stream, shown) = state else { return Ok(()) };
        let begin = Instant::now();
        let mut out = BufWriter::with_capacity(1 << 16, stream);
        for (index, shown) in shown.iter_mut().enumerate() {
            let (samples, message) = {
                let (tile, sums) = (film.tile(index), film.sums(index));
                let samples = (0..tile.pixels()).map(|i| u64::from(sums.raw(i as usize).count)).sum();
                if samples == *shown {
                    continue;
                }
                (samples, tev::update_image(&self.name, tile, &sums))
            };
            // Nothing of the film is held any more.
            out.write_all(&message)?;
            *shown = samples;
            if begin.elapsed() > PATIENCE_IN_ALL {
                return Err(ErrorKind::TimedOut.into());
            }
        }
        out.flush()
    }

    fn connect(&self) -> Result<TcpStream, Error> {
        let mut last = Error::new(ErrorKind::NotFound, "there is no such host");
        for address in self.address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(mut stream) => {
                    stream.set_write_timeout(Some(PATIENCE))?;
                    stream.write_all(&tev::create_image(&self.name, self.frame))?;
                    return Ok(stream);
                }
                Err(e) => last = e,
            }
        }
        Err(last)
    }

    /// Says what went wrong, once.
    pub fn report(&self, outcome: &mut Outcome) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Lost(why) = &*state {
            let warning = format!("warning: tev at {} was lost, and the render went on: {why}\n", self.address);
            outcome.note.push_str(&warning);
        }
    }
}

/// `HOST:PORT`.
pub fn address(text: &str) -> Result<String, String> {
    let parsed = text.rsplit_once(':').filter(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    parsed.map(|_| text.to_owned()).ok_or_else(|| "tev's address is written localhost:14158".to_owned())
}
