import { describeAlways } from "../../../client/format.ts"
import { DEFAULT_GRANT_USES, type Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { changeCardText } from "../../strings/approvals.ts"
import { proposalLines } from "../drawing/proposal-lines.ts"
import { DIM, type Line, indent, line } from "../line.ts"
import { clip, wrap } from "../wrap.ts"
import { type TypedDecision, asksEachTime } from "./decision.ts"

/** One line of the card, and the line that says there is more. */
const MIN_ROWS = 2

/**
 * The waiting changes in a window that scrolls. It knows whether everything has been on the screen: until then only
 * `yes!` approves.
 */
export class ChangeCard {
  #ids = ""
  #proposals: readonly Proposal[] = []
  #offset = 0
  /** Indexes of the lines that have been on the screen. */
  readonly #seen = new Set<number>()
  #length = Number.POSITIVE_INFINITY
  #width = 0
  #rows = MIN_ROWS
  #lacksRoom = false
  /** Cached for these proposals and this width: wrapping a long change takes longer than one frame. */
  #lines: readonly Line[] | undefined

  /** Sets the waiting changes. New or edited ones must be read again. */
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

  /** Whether exactly these changes have been on the screen completely. */
  isRead(proposals: readonly Proposal[]): boolean {
    return idsOf(proposals) === this.#ids && Number.isFinite(this.#length) && this.unread === 0
  }

  /** Whether a part of exactly these changes has been on the screen. */
  isShown(proposals: readonly Proposal[]): boolean {
    return idsOf(proposals) === this.#ids && this.#seen.size > 0
  }

  /** The number of lines that have not been on the screen. */
  get unread(): number {
    return Number.isFinite(this.#length) ? this.#length - this.#seen.size : 0
  }

  /** Whether a line above the window has not been on the screen, because the End key skips lines. */
  get isUnreadAbove(): boolean {
    return this.unread > 0 && this.#firstUnread() < this.#offset
  }

  /** Whether the last frame had no room for a line of the card. */
  get lacksRoom(): boolean {
    return this.#lacksRoom
  }

  /**
   * Scrolls by less than a window so that no line is skipped. Home and End skip lines, which then do not count as read.
   */
  move(by: "page-up" | "page-down" | "up" | "down" | "home" | "end"): void {
    const page = Math.max(1, this.#rows - 2)
    const all = Number.MAX_SAFE_INTEGER
    const step = { "page-up": -page, "page-down": page, up: -1, down: 1, home: -all, end: all }[by]
    const last = Math.max(0, this.#length - (this.#rows - 1))
    this.#offset = Math.max(0, Math.min(last, this.#offset + step))
  }

  /** Draws the window and records its lines as read. */
  draw(width: number, rows: number): Line[] {
    this.#lacksRoom = rows < MIN_ROWS
    if (this.#proposals.length === 0 || rows < MIN_ROWS) return []
    if (width !== this.#width) this.#lines = undefined
    const all = (this.#lines ??= linesOf(this.#proposals, width))
    // In another width the lines differ: a change that was read stays read, any other starts from its beginning.
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
    // After a jump to the end: says where the unread lines start.
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

/** Lines about what `always` would approve, because the person must know it before they decide. */
function always(open: readonly Proposal[]): string[] {
  const grantable = open.filter((proposal) => !asksEachTime(proposal))
  const [only] = grantable
  if (!only) return []
  const what = grantable.length === 1 ? describeAlways(only) : changeCardText.alwaysSeveral(DEFAULT_GRANT_USES)
  const isCommand = grantable.some(({ commandLine }) => commandLine !== undefined)
  return [changeCardText.always(what, isCommand)]
}

const idsOf = (proposals: readonly Proposal[]): string =>
  proposals.map(({ id, hash, status }) => `${id} ${hash} ${status}`).join()

interface DecisionContext {
  /** The waiting changes are not those under which the text was started. */
  readonly isForOtherChanges: boolean
  readonly session: {
    readonly card: Pick<ChangeCard, "isRead" | "isShown" | "isUnreadAbove" | "lacksRoom" | "unread">
    readonly waiting: readonly Proposal[]
  }
  /** An empty line. */
  readonly isBare: boolean
}

const AGREES: ReadonlySet<TypedDecision["type"]> = new Set(["yes", "all", "always"])

/**
 * Returns why a decision does not count yet, or undefined if it does. A person approves only what was on the screen,
 * unless they type `yes!`.
 */
export function whyNotYet(
  decision: TypedDecision,
  { isForOtherChanges, session, isBare }: DecisionContext,
): string | undefined {
  const { card, waiting } = session
  if (isForOtherChanges) return changeCardText.otherChange
  const agrees = AGREES.has(decision.type)
  if ((agrees || isBare) && card.lacksRoom && !card.isRead(waiting)) return changeCardText.noRoom
  if (decision.type === "unclear") return decision.says
  if (!agrees || card.isRead(waiting) || ("isUnread" in decision && card.isShown(waiting))) return undefined
  if (!card.isShown(waiting)) return changeCardText.notShownYet
  return changeCardText.unread(card.unread, card.isUnreadAbove, decision.type)
}
