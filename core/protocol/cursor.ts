/**
 * A position in a conversation's stream: all events up to `position`, and `offset` UTF-16 units of the text of the
 * reply in progress.
 */
export interface Cursor {
  readonly position: number
  readonly offset: number
}

/** Formats a cursor: `12`, or `12.340` within a reply in progress. */
export function toCursor({ position, offset }: Cursor): string {
  return offset === 0 ? String(position) : `${position}.${offset}`
}

/** Parses a cursor; undefined if the text is not one. */
export function parseCursor(text: string): Cursor | undefined {
  const [, position, offset] = /^(\d{1,15})(?:\.(\d{1,15}))?$/.exec(text) ?? []
  return position === undefined ? undefined : { position: Number(position), offset: Number(offset ?? 0) }
}

/** Returns true if the first cursor is before the second in the stream. */
export function isBefore(one: Cursor, other: Cursor): boolean {
  return one.position < other.position || (one.position === other.position && one.offset < other.offset)
}
