import { describeAlways } from "../../../client/words.ts"
import { DEFAULT_GRANT_USES, type Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { changeCardText } from "../../strings/approvals.ts"
import { proposalLines } from "../drawing/proposal-lines.ts"
import { DIM, type Line, indent, line } from "../line.ts"
import { clip, wrap } from "../wrap.ts"
import { type TypedDecision, isAlwaysAsked } from "./decision.ts"

/** A line of it, and the line that says that there is more. */
const MIN_ROWS = 2

/**
 * The changes that wait, as a window that is moved over them. It knows whether everything has been on the screen: `yes`
 * does not count before, only `yes!`.
 */
export class WaitingCard {
  #ids = ""
  #proposals: readonly Proposal[] = []
  #offset = 0
  /** The lines that were on the screen, by their index. */
  readonly #seen = new Set<number>()
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
    this.#seen.clear()
    this.#length = Number.POSITIVE_INFINITY
    this.#lines = undefined
  }

  /** Whether these, and no others, have been on the screen from beginning to end. */
  isRead(proposals: readonly Proposal[]): boolean {
    return idsOf(proposals) === this.#ids && Number.isFinite(this.#length) && this.unread === 0
  }

  /** Whether anything of these, and of no others, has been on the screen. */
  isShown(proposals: readonly Proposal[]): boolean {
    return idsOf(proposals) === this.#ids && this.#seen.size > 0
  }

  /** How many lines have not been on the screen. */
  get unread(): number {
    return Number.isFinite(this.#length) ? this.#length - this.#seen.size : 0
  }

  /** Whether a line above the window has not been on the screen: End passes lines over. */
  get isUnreadAbove(): boolean {
    return this.unread > 0 && this.#firstUnread() < this.#offset
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
    // The same text in another width has other lines: it stays read, or is read again from its beginning.
    if (width !== this.#width && Number.isFinite(this.#length)) {
      const wasRead = this.unread === 0
      this.#seen.clear()
      if (wasRead) this.#see(0, all.length)
      else this.#offset = 0
    }
    this.#width = width
    this.#length = all.length
    this.#rows = rows
    if (all.length <= this.#rows) {
      this.#see(0, all.length)
      return [...all]
    }
    const shown = this.#rows - 1
    this.#offset = Math.min(this.#offset, all.length - shown)
    const end = this.#offset + shown
    this.#see(this.#offset, end)
    const more = end < all.length ? changeCardText.windowMore : changeCardText.windowEnd
    // Whoever has jumped learns where they have to go back to before they can agree.
    const unread = end === all.length && this.unread > 0 ? changeCardText.windowUnread(this.#firstUnread() + 1) : ""
    const place = line(`${changeCardText.window(this.#offset + 1, end, all.length)}${more}${unread}`, DIM)
    return [...all.slice(this.#offset, end), clip(place, width)]
  }

  #see(from: number, to: number): void {
    for (let at = from; at < to; at++) this.#seen.add(at)
  }

  #firstUnread(): number {
    let at = 0
    while (this.#seen.has(at)) at++
    return at
  }
}

function linesOf(proposals: readonly Proposal[], width: number): Line[] {
  const many = proposals.length
  const cards = proposals.flatMap((proposal, index) => [
    ...(index > 0 ? [[]] : []),
    ...proposalLines(proposal, width, many > 1 ? changeCardText.place(index + 1, many) : ""),
  ])
  const open = proposals.filter(({ status }) => status === "pending")
  const words = open.length > 0 ? [...always(open), changeCardText.allAndNone] : []
  return [...cards, ...words.flatMap((each) => wrap(line(each, DIM), width - 2).map(indent))]
}

/** What `always` would approve: a person has to know before they say it. */
function always(open: readonly Proposal[]): string[] {
  const grantable = open.filter((proposal) => !isAlwaysAsked(proposal))
  const [only] = grantable
  if (!only) return []
  const what = grantable.length === 1 ? describeAlways(only) : changeCardText.alwaysSeveral(DEFAULT_GRANT_USES)
  const isCommand = grantable.some(({ commandLine }) => commandLine !== undefined)
  return [changeCardText.always(what, isCommand)]
}

const idsOf = (proposals: readonly Proposal[]): string =>
  proposals.map(({ id, hash, status }) => `${id} ${hash} ${status}`).join()

interface Seen {
  /** What waits is another one than what waited when the answer was begun. */
  readonly isUnderOthers: boolean
  readonly talk: {
    readonly card: Pick<WaitingCard, "isRead" | "isShown" | "isUnreadAbove" | "lacksRoom" | "unread">
    readonly waiting: readonly Proposal[]
  }
  /** Enter alone. */
  readonly isBare: boolean
}

const AGREES: ReadonlySet<TypedDecision["type"]> = new Set(["yes", "all", "always"])

/** Why an answer does not count yet; undefined if it does. A person approves only what was on the screen, unless they say `yes!`. */
export function whyNotNow(decision: TypedDecision, { isUnderOthers, talk, isBare }: Seen): string | undefined {
  const { card, waiting } = talk
  if (isUnderOthers) return changeCardText.otherChange
  const agrees = AGREES.has(decision.type)
  if ((agrees || isBare) && card.lacksRoom && !card.isRead(waiting)) return changeCardText.noRoom
  if (decision.type === "unclear") return decision.says
  if (!agrees || card.isRead(waiting) || ("isUnread" in decision && card.isShown(waiting))) return undefined
  if (!card.isShown(waiting)) return changeCardText.notShownYet
  return changeCardText.unread(card.unread, card.isUnreadAbove, decision.type)
}
