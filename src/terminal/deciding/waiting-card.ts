import type { Proposal } from "../../protocol/proposals/proposal.ts"
import { DIM, type Line, line } from "../line.ts"
import { proposalLines } from "../drawing/proposal-lines.ts"
import { clip } from "../wrap.ts"

/** A line of it, and the line that says that there is more. */
const MIN_ROWS = 2

/**
 * The changes that wait, as a window that is moved over them. It knows whether everything has been on the screen: before,
 * nobody can agree.
 */
export class WaitingCard {
  #ids = ""
  #proposals: readonly Proposal[] = []
  #offset = 0
  #seenTo = 0
  #length = Number.POSITIVE_INFINITY
  #width = 0
  #rows = MIN_ROWS
  #lacksRoom = false
  /** Of these proposals, for this width: to break a long change into lines takes longer than to draw a picture may. */
  #lines: readonly Line[] | undefined

  /** What waits now. Another one, or an edited one, has to be read anew. */
  set(proposals: readonly Proposal[]): void {
    const ids = idsOf(proposals)
    this.#proposals = proposals
    if (ids === this.#ids) return
    this.#ids = ids
    this.#offset = 0
    this.#seenTo = 0
    this.#length = Number.POSITIVE_INFINITY
    this.#lines = undefined
  }

  /** Whether these, and no others, have been on the screen from beginning to end. */
  isRead(proposals: readonly Proposal[]): boolean {
    return idsOf(proposals) === this.#ids && this.#seenTo >= this.#length
  }

  /** Whether anything of these, and of no others, has been on the screen. */
  isShown(proposals: readonly Proposal[]): boolean {
    return idsOf(proposals) === this.#ids && this.#seenTo > 0
  }

  /** Whether there was no room for a single line of it when it was drawn last. */
  get lacksRoom(): boolean {
    return this.#lacksRoom
  }

  /** Moves by less than a window, so that no line is passed over; or to an end, and what lies between is not read by that. */
  move(by: "page-up" | "page-down" | "up" | "down" | "home" | "end"): void {
    const page = Math.max(1, this.#rows - 2)
    const all = Number.MAX_SAFE_INTEGER
    const step = { "page-up": -page, "page-down": page, up: -1, down: 1, home: -all, end: all }[by]
    const last = Math.max(0, this.#length - (this.#rows - 1))
    this.#offset = Math.max(0, Math.min(last, this.#offset + step))
  }

  /** What is drawn, and counts as seen. */
  draw(width: number, rows: number): Line[] {
    this.#lacksRoom = rows < MIN_ROWS
    // Where there is no room nothing is shown, and nothing counts as seen.
    if (this.#proposals.length === 0 || rows < MIN_ROWS) return []
    if (width !== this.#width) this.#lines = undefined
    const all = (this.#lines ??= linesOf(this.#proposals, width))
    // Broken otherwise, the lines are others: only the place in the text remains, roughly.
    if (width !== this.#width && this.#width !== 0 && this.#seenTo < this.#length) this.#seenTo = this.#offset = 0
    this.#width = width
    this.#length = all.length
    this.#rows = rows
    if (all.length <= this.#rows) {
      this.#seenTo = all.length
      return [...all]
    }
    const shown = this.#rows - 1
    this.#offset = Math.min(this.#offset, all.length - shown)
    const end = this.#offset + shown
    if (this.#offset <= this.#seenTo) this.#seenTo = Math.max(this.#seenTo, end)
    const more = end < all.length ? "Space or PgDn: more, End" : "PgUp: back, Home"
    // Whoever has jumped learns where they have to go back to before they can agree.
    const unread = end === all.length && this.#seenTo < all.length ? ` · from ${this.#seenTo + 1} on not read yet` : ""
    const place = line(`  lines ${this.#offset + 1}–${end} of ${all.length} · ${more}${unread}`, DIM)
    return [...all.slice(this.#offset, end), clip(place, width)]
  }
}

function linesOf(proposals: readonly Proposal[], width: number): Line[] {
  const many = proposals.length
  return proposals.flatMap((proposal, index) => [
    ...(index > 0 ? [[]] : []),
    ...proposalLines(proposal, width, many > 1 ? `${index + 1} of ${many} · ` : ""),
  ])
}

const idsOf = (proposals: readonly Proposal[]): string =>
  proposals.map(({ id, hash, status }) => `${id} ${hash} ${status}`).join()
