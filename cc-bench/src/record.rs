//! A folder with what was measured: metadata, each run, the summary.

use crate::metadata::Metadata;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{error, fmt, io};

/// A folder that is being written.
#[derive(Debug)]
pub struct Record {
    folder: PathBuf,
    runs: csv::Writer<File>,
}

/// A file that cannot be written.
#[derive(Debug)]
pub struct RecordError {
    path: PathBuf,
    source: Box<dyn error::Error + Send + Sync>,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record: {}: {}", self.path.display(), self.source)
    }
}

impl error::Error for RecordError {}

impl Record {
    /// Makes the folder; `meta.json` is in it then.
    ///
    /// # Errors
    ///
    /// There is such a folder already, or the system refuses.
    pub fn create(folder: &Path, metadata: &Metadata) -> Result<Self, RecordError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source: io::Error| RecordError { path, source: source.into() }
        };
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent).map_err(at(parent))?;
        }
        // Fails if it is there: a record is never written over.
        fs::create_dir(folder).map_err(at(folder))?;
        let path = folder.join("meta.json");
        let text = serde_json::to_string_pretty(metadata)
            .map_err(|source| RecordError { path: path.clone(), source: source.into() })?;
        fs::write(&path, text + "\n").map_err(at(&path))?;
        let path = folder.join("runs.csv");
        let runs = File::create_new(&path).map_err(at(&path))?;
        Ok(Self { folder: folder.to_owned(), runs: csv::Writer::from_writer(runs) })
    }

    /// Goes on with a record; its runs.
    ///
    /// # Errors
    ///
    /// There is none, or its `runs.csv` is not that of such runs, or has other columns: those of another version.
    pub fn resume<T: DeserializeOwned + Serialize + Default>(
        folder: &Path,
    ) -> Result<(Self, Vec<T>), RecordError> {
        let path = folder.join("runs.csv");
        let wrong = |source: Box<dyn error::Error + Send + Sync>| RecordError { path: path.clone(), source };
        let mut reader = csv::Reader::from_path(&path).map_err(|error| wrong(error.into()))?;
        let columns = reader.headers().map_err(|error| wrong(error.into()))?.clone();
        let runs =
            reader.deserialize().collect::<Result<Vec<T>, _>>().map_err(|error| wrong(error.into()))?;
        if !columns.is_empty() && columns != columns_of(&T::default()).map_err(|error| wrong(error.into()))? {
            return Err(wrong("the columns are those of another version".into()));
        }
        let file = File::options().append(true).open(&path).map_err(|error| wrong(error.into()))?;
        let writer =
            csv::WriterBuilder::new().has_headers(runs.is_empty() && is_empty(&file)).from_writer(file);
        Ok((Self { folder: folder.to_owned(), runs: writer }, runs))
    }

    /// Adds a run to `runs.csv`. It is in the file when this returns.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn run(&mut self, run: &impl Serialize) -> Result<(), RecordError> {
        let result = self.runs.serialize(run).and_then(|()| Ok(self.runs.flush()?));
        result.map_err(|source| RecordError { path: self.folder.join("runs.csv"), source: source.into() })
    }

    /// Adds a line of JSON to another file.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn append(&self, name: &str, what: &impl Serialize) -> Result<(), RecordError> {
        let path = self.folder.join(name);
        let line = serde_json::to_string(what).map_err(io::Error::from);
        let result = line.and_then(|line| {
            let mut file = File::options().create(true).append(true).open(&path)?;
            file.write_all(format!("{line}\n").as_bytes())
        });
        result.map_err(|source| RecordError { path, source: source.into() })
    }

    /// What another file has; `None` if it is not there.
    #[must_use]
    pub fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(name)).ok()
    }

    /// Writes another file.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn file(&self, name: &str, text: &str) -> Result<(), RecordError> {
        let path = self.folder.join(name);
        fs::write(&path, text).map_err(|source| RecordError { path, source: source.into() })
    }
}

/// What stands above a run.
fn columns_of(run: &impl Serialize) -> Result<csv::StringRecord, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.serialize(run)?;
    let text = writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
    csv::Reader::from_reader(text.as_slice()).headers().cloned()
}

fn is_empty(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.len() == 0)
}

/// Puts `text` into a page between the two lines that begin with `<!-- NAME begin` and `<!-- NAME end`.
///
/// # Errors
///
/// The page cannot be read or written, or has not exactly one such pair of lines.
pub fn insert(page: &Path, name: &str, text: &str) -> Result<(), RecordError> {
    let wrong = |source: Box<dyn error::Error + Send + Sync>| RecordError { path: page.to_owned(), source };
    let old = fs::read_to_string(page).map_err(|error| wrong(error.into()))?;
    let new = between(&old, name, text).ok_or_else(|| wrong(no_lines(name).into()))?;
    fs::write(page, new).map_err(|error| wrong(error.into()))
}

/// Whether [`insert`] would find these lines.
///
/// # Errors
///
/// As there.
pub fn has_section(page: &Path, name: &str) -> Result<(), RecordError> {
    let wrong = |source: Box<dyn error::Error + Send + Sync>| RecordError { path: page.to_owned(), source };
    let old = fs::read_to_string(page).map_err(|error| wrong(error.into()))?;
    between(&old, name, "").map(drop).ok_or_else(|| wrong(no_lines(name).into()))
}

fn no_lines(name: &str) -> String {
    format!("no lines <!-- {name} begin and end")
}

fn between(page: &str, name: &str, text: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- {name} begin"), format!("<!-- {name} end"));
    let (head, rest) = page.split_once(&begin)?;
    let (marker, rest) = rest.split_once('\n')?;
    let (_, tail) = rest.split_once(&end)?;
    Some(format!("{head}{begin}{marker}\n{text}{end}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::{Record, between};
    use crate::metadata::Metadata;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Old {
        one: u32,
    }

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    struct New {
        one: u32,
        two: u32,
    }

    #[test]
    fn a_record_goes_on_with_the_columns_that_it_has_and_no_others() {
        let folder = std::env::temp_dir().join(format!("cc-bench-resume-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let mut record = Record::create(&folder, &Metadata::collect()).unwrap();
        record.run(&Old { one: 1 }).unwrap();
        drop(record);
        let (mut record, runs) = Record::resume::<Old>(&folder).unwrap();
        assert_eq!(runs, [Old { one: 1 }]);
        record.run(&Old { one: 2 }).unwrap();
        drop(record);
        assert_eq!(std::fs::read_to_string(folder.join("runs.csv")).unwrap(), "one\n1\n2\n");
        // Its lines would have more fields than the first says.
        let error = Record::resume::<New>(&folder).unwrap_err().to_string();
        assert!(error.ends_with("the columns are those of another version"), "{error}");
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(Record::resume::<Old>(&folder).is_err());
    }

    #[test]
    fn a_page_gets_new_text_between_its_markers() {
        let page = "a\n<!-- t begin, generated -->\nold\n<!-- t end -->\nb\n";
        let new = "a\n<!-- t begin, generated -->\nnew\n<!-- t end -->\nb\n";
        assert_eq!(between(page, "t", "new\n").as_deref(), Some(new));
        assert_eq!(between(new, "t", "new\n").as_deref(), Some(new));
        assert_eq!(between(page, "u", "new\n"), None);
        assert_eq!(between("<!-- t end\n<!-- t begin\n", "t", ""), None);
    }
}
