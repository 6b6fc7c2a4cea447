//! Keeps machine code from run to run: a folder with a file for each compiled module.
//!
//! The name of a file is a hash of everything that decides its content, so files never change. They are written whole
//! under another name, and then renamed. Any number of processes may share the folder. A damaged file is removed, and
//! its code is compiled again. The folder belongs to one user, since anybody who can write to it decides what shaders
//! do.

use crate::{input, private_folder};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use xxhash_rust::xxh3::xxh3_128;

/// Names the code of one module, for one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(pub u128);

/// A folder in which code is kept, so that the next run need not make it again.
///
/// Clones share the folder, its limit and its counts.
#[derive(Clone, Debug)]
pub struct CodeCache(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    limit: u64,
    /// Bytes that this process wrote since it last looked at the folder; `None` before the first look.
    written: Mutex<Option<u64>>,
    found: AtomicU64,
    missed: AtomicU64,
    faults: AtomicU64,
}

/// How often a cache helped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Times that code was there.
    pub found: u64,
    /// Times that it was not.
    pub missed: u64,
    /// Files that were damaged, or could not be read or written. They cost time and nothing else.
    pub faults: u64,
}

/// What a file opens with; the digit is raised with every change of what follows.
const MAGIC: [u8; 8] = *b"SSLCODE1";
/// The magic word, the key, and the hash of key and content.
const HEADER: usize = 8 + 16 + 16;
const EXTENSION: &str = "code";
const PARTIAL: &str = "partial";

impl CodeCache {
    /// A cache in a folder, which is made if it is not there, of about so many bytes: each process may pass the
    /// limit by a sixteenth before what was used longest ago is removed.
    ///
    /// # Errors
    /// The folder cannot be made; or, on Unix, it belongs to somebody else, or others may write to it.
    pub fn open(folder: impl Into<PathBuf>, limit: u64) -> io::Result<CodeCache> {
        let folder = folder.into();
        private_folder::make(&folder, true)?;
        let (found, missed, faults) = Default::default();
        Ok(CodeCache(Arc::new(Shared { folder, limit, written: Mutex::new(None), found, missed, faults })))
    }

    /// Where it keeps code.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// How often it helped so far, in this process.
    pub fn counts(&self) -> CacheCounts {
        let read = |n: &AtomicU64| n.load(Ordering::Relaxed);
        CacheCounts { found: read(&self.0.found), missed: read(&self.0.missed), faults: read(&self.0.faults) }
    }

    pub(crate) fn get(&self, key: Key) -> Option<Vec<u8>> {
        let path = self.path(key);
        let object = match input::bytes(&path, self.0.limit) {
            Ok(bytes) => match object_of(bytes, key) {
                Some(object) => Some(object),
                None => {
                    self.fault();
                    // Where it cannot be removed, it is written over.
                    let _ = std::fs::remove_file(&path);
                    None
                }
            },
            Err(e) => {
                if e.kind() != io::ErrorKind::NotFound {
                    self.fault();
                }
                None
            }
        };
        let count = if object.is_some() { &self.0.found } else { &self.0.missed };
        count.fetch_add(1, Ordering::Relaxed);
        if object.is_some() {
            mark_used(&path);
        }
        object
    }

    /// Keeps an object; without a word where that fails, since all it costs is time.
    pub(crate) fn put(&self, key: Key, object: &[u8]) {
        let size = (HEADER + object.len()) as u64;
        // One that would drive out most others.
        if size > self.0.limit / 4 {
            return;
        }
        match self.write(key, object) {
            Ok(()) => self.make_room(size),
            Err(_) => self.fault(),
        }
    }

    fn write(&self, key: Key, object: &[u8]) -> io::Result<()> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let nonce = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let partial = self.0.folder.join(format!("{:032x}-{}-{}.{PARTIAL}", key.0, nonce.0, nonce.1));
        let whole = || {
            let mut file = File::create(&partial)?;
            file.write_all(&MAGIC)?;
            file.write_all(&key.0.to_le_bytes())?;
            file.write_all(&checksum(key, object).to_le_bytes())?;
            file.write_all(object)?;
            drop(file);
            std::fs::rename(&partial, self.path(key))
        };
        whole().inspect_err(|_| {
            // It may not even be there.
            let _ = std::fs::remove_file(&partial);
        })
    }

    /// Removes what was used longest ago, down to three quarters of the limit, once there is more than the limit.
    fn make_room(&self, size: u64) {
        let mut written = self.0.written.lock().unwrap_or_else(PoisonError::into_inner);
        let now = written.map_or(u64::MAX, |n| n.saturating_add(size));
        if now <= self.0.limit / 16 {
            *written = Some(now);
            return;
        }
        *written = Some(0);
        drop(written);
        let mut files = self.files();
        let mut total: u64 = files.iter().map(|f| f.size).sum();
        if total <= self.0.limit {
            return;
        }
        files.sort_by_key(|f| f.used);
        for file in files {
            if total <= self.0.limit / 4 * 3 {
                break;
            }
            // Another process may have been quicker.
            let _ = std::fs::remove_file(&file.path);
            total -= file.size;
        }
    }

    /// The files of code. Those that a process which was killed left behind unfinished are removed.
    fn files(&self) -> Vec<Kept> {
        const HOUR: Duration = Duration::from_secs(3600);
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&self.0.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(about) = entry.metadata() else { continue };
            let used = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            match path.extension().and_then(|e| e.to_str()) {
                Some(EXTENSION) => files.push(Kept { path, size: about.len(), used }),
                Some(PARTIAL) if used.elapsed().is_ok_and(|age| age > HOUR) => {
                    let _ = std::fs::remove_file(path);
                }
                _ => {}
            }
        }
        files
    }

    fn path(&self, key: Key) -> PathBuf {
        self.0.folder.join(format!("{:032x}.{EXTENSION}", key.0))
    }

    fn fault(&self) {
        self.0.faults.fetch_add(1, Ordering::Relaxed);
    }
}

struct Kept {
    path: PathBuf,
    size: u64,
    used: SystemTime,
}

/// The object of a file, if the file is whole and of this key.
fn object_of(mut bytes: Vec<u8>, key: Key) -> Option<Vec<u8>> {
    let (header, object) = bytes.split_at_checked(HEADER)?;
    let wanted = [&MAGIC[..], &key.0.to_le_bytes(), &checksum(key, object).to_le_bytes()].concat();
    if header != wanted {
        return None;
    }
    bytes.drain(..HEADER);
    Some(bytes)
}

fn checksum(key: Key, object: &[u8]) -> u128 {
    xxh3_128(object) ^ key.0
}

/// Notes that a file was used, once an hour: files that were not used longest are the first to go.
fn mark_used(path: &Path) {
    const HOUR: Duration = Duration::from_secs(3600);
    let old = |path: &Path| std::fs::metadata(path)?.modified().map(|t| t.elapsed().is_ok_and(|age| age > HOUR));
    if old(path).unwrap_or(false) {
        // Where it fails the file goes sooner.
        let _ = File::open(path).and_then(|file| file.set_modified(SystemTime::now()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that is gone at the end.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str) -> Temporary {
            let path = std::env::temp_dir().join(format!("ssl-code-{}-{name}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            Temporary(path)
        }

        fn cache(&self, limit: u64) -> CodeCache {
            CodeCache::open(&self.0, limit).expect("the temporary folder can be written")
        }

        fn names(&self) -> Vec<String> {
            let entries = std::fs::read_dir(&self.0).expect("it was made");
            entries.map(|e| e.expect("it can be read").file_name().to_string_lossy().into_owned()).collect()
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_is_put_is_found_under_its_key_alone_and_by_every_process() {
        let folder = Temporary::new("round");
        let cache = folder.cache(1 << 20);
        cache.put(Key(7), b"some code");
        cache.put(Key(8), b"");
        let other = folder.cache(1 << 20);
        for cache in [&cache, &other] {
            assert_eq!(cache.get(Key(7)).as_deref(), Some(&b"some code"[..]));
            assert_eq!(cache.get(Key(8)).as_deref(), Some(&b""[..]));
            assert_eq!(cache.get(Key(9)), None);
            assert_eq!(cache.counts(), CacheCounts { found: 2, missed: 1, faults: 0 });
        }
    }

    #[test]
    fn a_file_that_is_damaged_anywhere_is_no_code_and_goes() {
        let folder = Temporary::new("damage");
        let cache = folder.cache(1 << 20);
        let path = cache.path(Key(1));
        cache.put(Key(1), b"code");
        let whole = std::fs::read(&path).expect("it was written");
        let cut = (0..whole.len()).map(|n| whole[..n].to_vec());
        let flipped = (0..whole.len()).map(|n| {
            let mut bytes = whole.clone();
            bytes[n] ^= 0x10;
            bytes
        });
        let longer = std::iter::once([&whole[..], b"x"].concat());
        for bytes in cut.chain(flipped).chain(longer) {
            std::fs::write(&path, &bytes).expect("as above");
            assert_eq!(cache.get(Key(1)), None, "{bytes:?}");
            assert!(!path.exists());
        }
        // Whole, but of another key.
        std::fs::write(cache.path(Key(2)), &whole).expect("as above");
        assert_eq!(cache.get(Key(2)), None);
    }

    /// Opening a pipe would wait for somebody to write into it. Code takes its place.
    #[cfg(unix)]
    #[test]
    fn a_pipe_is_no_code_and_is_replaced() {
        let folder = Temporary::new("pipe");
        let cache = folder.cache(1 << 20);
        let made = std::process::Command::new("mkfifo").arg(cache.path(Key(1))).status();
        assert!(made.expect("there is such a program").success());
        assert_eq!(cache.get(Key(1)), None);
        assert_eq!(cache.counts(), CacheCounts { found: 0, missed: 1, faults: 1 });
        cache.put(Key(1), b"code");
        assert_eq!(cache.get(Key(1)).as_deref(), Some(&b"code"[..]));
    }

    #[test]
    fn the_folder_keeps_to_its_limit_and_what_was_used_stays() {
        let folder = Temporary::new("limit");
        let limit = 64 << 10;
        let cache = folder.cache(limit);
        let object = vec![5; 1000];
        let long_ago = SystemTime::now() - Duration::from_secs(100_000);
        for n in 0..200 {
            cache.put(Key(n), &object);
            let file = File::options().write(true).open(cache.path(Key(n))).expect("it was written");
            file.set_modified(long_ago + Duration::from_secs(n as u64)).expect("it is ours");
            if n > 0 {
                // Used again and again.
                assert!(cache.get(Key(0)).is_some(), "after {n}");
            }
            let total: u64 = cache.files().iter().map(|f| f.size).sum();
            assert!(total <= limit + limit / 16 + 1100, "{total} after {n}");
        }
        assert!(cache.get(Key(199)).is_some() && cache.get(Key(1)).is_none());
        cache.put(Key(500), &vec![0; 17 << 10]);
        assert_eq!(cache.get(Key(500)), None, "one takes no more than a quarter");
    }

    #[test]
    fn many_threads_read_and_write_at_once() {
        let folder = Temporary::new("threads");
        let limit = 40 << 10;
        std::thread::scope(|scope| {
            for t in 0..8u128 {
                let cache = folder.cache(limit);
                scope.spawn(move || {
                    for i in 0..200 {
                        let key = Key((i * (t + 1)) % 60);
                        let object = vec![key.0 as u8; 900 + key.0 as usize];
                        match cache.get(key) {
                            Some(found) => assert_eq!(found, object),
                            None => cache.put(key, &object),
                        }
                    }
                });
            }
        });
        assert!(folder.names().iter().all(|n| n.ends_with(".code")), "{:?}", folder.names());
    }

    #[test]
    fn what_a_killed_process_left_goes_after_a_while() {
        let folder = Temporary::new("killed");
        let cache = folder.cache(1 << 20);
        for (name, age) in [("old.partial", 7200), ("new.partial", 60)] {
            let file = File::create(cache.folder().join(name)).expect("the folder can be written");
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).expect("it is ours");
        }
        cache.put(Key(1), b"code");
        let mut names = folder.names();
        names.sort();
        assert_eq!(names, [format!("{:032x}.code", 1), "new.partial".to_owned()]);
    }

    #[test]
    fn without_a_folder_nothing_is_kept_and_nothing_breaks() {
        let folder = Temporary::new("gone");
        let cache = folder.cache(1 << 20);
        std::fs::remove_dir_all(&folder.0).expect("it was made");
        cache.put(Key(1), b"code");
        assert_eq!(cache.get(Key(1)), None);
        assert_eq!(cache.counts(), CacheCounts { found: 0, missed: 1, faults: 1 });
        std::fs::write(&folder.0, "a file").expect("the temporary folder can be written");
        assert!(CodeCache::open(&folder.0, 1 << 20).is_err());
        std::fs::remove_file(&folder.0).expect("as above");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_may_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Temporary::new("open");
        drop(folder.cache(1 << 20));
        let mode = |mode| std::fs::set_permissions(&folder.0, std::fs::Permissions::from_mode(mode));
        mode(0o777).expect("it is ours");
        let refused = CodeCache::open(&folder.0, 1 << 20).expect_err("anybody could put code there");
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        mode(0o700).expect("it is ours");
        assert!(CodeCache::open(&folder.0, 1 << 20).is_ok());
    }
}
