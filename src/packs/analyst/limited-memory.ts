/** Of memory a process may write to. Node sets 300 MB of it aside from the start. */
const DATA_KILOBYTES = 800_000

/**
 * How to start a process that opens a SQLite file, so that a statement cannot take all memory there is. SQLite's own limit is
 * not compiled in; the system's makes it say that it has none left.
 */
export function limitedMemory(words: readonly string[]): [command: string, words: string[]] {
  if (process.platform === "win32") return [words[0] ?? "", words.slice(1)]
  return ["/bin/sh", ["-c", `ulimit -d ${DATA_KILOBYTES}; exec "$0" "$@"`, ...words]]
}
