//! The blocks of a chapter, and the files that they make up.

/// A fenced block with the line before it.
pub struct Block {
    pub lead: String,
    pub text: String,
}

/// A file of a chapter, as the list of its blocks.
pub struct File {
    pub path: String,
    blocks: Vec<String>,
}

/// The blocks of a page. A fence ends at the next line of as many backticks.
pub fn blocks(page: &str) -> Vec<Block> {
    let (mut blocks, mut lead, mut lines) = (Vec::new(), "", page.lines());
    while let Some(line) = lines.next() {
        let fence = &line[..line.len() - line.trim_start_matches('`').len()];
        if fence.len() >= 3 {
            let text = lines.by_ref().take_while(|line| *line != fence).flat_map(|line| [line, "\n"]);
            blocks.push(Block { lead: lead.to_owned(), text: text.collect() });
        } else if !line.is_empty() {
            lead = line;
        }
    }
    blocks
}

/// The files of a page. A block belongs to the file that the end of the line before it names: `` `src/lib.rs`: ``.
pub fn files(page: &str) -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    for Block { lead, text } in blocks(page) {
        let Some(path) = lead.strip_suffix("`:").and_then(|lead| lead.rsplit('`').next()) else { continue };
        match files.iter_mut().find(|file| file.path == path) {
            Some(file) => file.blocks.push(text),
            None => files.push(File { path: path.to_owned(), blocks: vec![text] }),
        }
    }
    files
}

impl File {
    /// The file at the end of the page. A block with the first two lines of an earlier block replaces it.
    pub fn last(&self) -> String {
        let replaced = |at: usize, block: &str| self.blocks[at + 1..].iter().any(|later| same(later, block));
        let kept = self.blocks.iter().enumerate().filter(|(at, block)| !replaced(*at, block));
        kept.map(|(_, block)| block.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// The file before any block was replaced. The line that makes conformance tests is left out: they fail.
    pub fn first(&self) -> String {
        let new = |at: usize, block: &str| !self.blocks[..at].iter().any(|earlier| same(earlier, block));
        let kept = self.blocks.iter().enumerate().filter(|(at, block)| new(*at, block));
        let kept = kept.filter(|(_, block)| !block.contains("lifecycle_conformance!"));
        kept.map(|(_, block)| block.as_str()).collect::<Vec<_>>().join("\n")
    }
}

fn same(one: &str, other: &str) -> bool {
    one.lines().take(2).eq(other.lines().take(2))
}
