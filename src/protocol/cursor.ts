/**
 * A place in a conversation (STREAM-01): everything durable up to `position`, and `offset` UTF-16 units of the visible
 * text of the reply that is open there.
 */
export interface Cursor {
  readonly position: number
  readonly offset: number
}

/** `12`, or `12.340` inside an open reply. */
export function toCursor({ position, offset }: Cursor): string {
  return offset === 0 ? String(position) : `${position}.${offset}`
}

/** What a cursor says; undefined for text that is none. */
export function parseCursor(text: string): Cursor | undefined {
  const [, position, offset] = /^(\d{1,15})(?:\.(\d{1,15}))?$/.exec(text) ?? []
  return position === undefined ? undefined : { position: Number(position), offset: Number(offset ?? 0) }
}

export function isBefore(one: Cursor, other: Cursor): boolean {
  return one.position < other.position || (one.position === other.position && one.offset < other.offset)
}
