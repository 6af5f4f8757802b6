/** The words of a schema on which the two engines differ. */
export interface Words {
  /** A key the database counts up by itself. */
  readonly serialKey: string
  /** Written behind a table that is stored in the order of its primary key, where the engine can. */
  readonly clustered: string
  /** Written before a table that may be empty again after a crash, where that makes it cheaper. */
  readonly unlogged: string
  /** Makes the words of the table `passage` findable, and keeps them so by itself. */
  readonly fullText: readonly string[]
  /** The same for its `grams`. */
  readonly grams: readonly string[]
  /** Says anew what a view shows, in the same columns. Where an engine can, views of an operator that are built on it stay. */
  changeView(name: string, select: string): string[]
  /** A column of bytes. */
  readonly bytes: string
  /** Has a column of bytes stored as they are, where the engine would try to make each value smaller. */
  uncompressed(table: string, column: string): string[]
}
