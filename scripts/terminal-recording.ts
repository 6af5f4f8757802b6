import pty, { type IPty } from "@lydell/node-pty"
import xterm from "@xterm/headless"

/** Text of one style. `from` is its first column. */
interface Span {
  readonly from: number
  readonly columns: number
  readonly text: string
  readonly color: string
  readonly background?: string
  readonly isBold: boolean
}

interface Frame {
  readonly at: number
  readonly caption: string
  readonly rows: readonly (readonly Span[])[]
}

const PATIENCE_MS = 30_000
/** Longer pauses, such as a start on a busy machine, are shortened to this; `hold` makes longer ones. */
const LONGEST_PAUSE_MS = 110
/** Output that arrives within this time of the previous frame becomes one frame. */
const FRAME_MS = 60

const TEXT = "#d7dde5"
const BACKGROUND = "#11161d"
const COLORS = [
  ...["#5c6773", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#d7dde5"],
  ...["#8b98a5", "#ffa198", "#a5f3b0", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#ffffff"],
]

/** A program in a pseudo-terminal whose screen is recorded, frame by frame. */
export class TerminalRecording {
  caption = ""
  readonly frames: Frame[] = []
  readonly columns: number
  readonly rows: number
  readonly #process: IPty
  readonly #screen: xterm.Terminal
  readonly #ended: Promise<unknown>
  #started = performance.now()
  #timer: NodeJS.Timeout | undefined
  /** Called when the screen has changed. */
  #changed = () => {}

  constructor(
    program: string,
    args: readonly string[],
    options: { columns: number; rows: number; cwd: string; env: Record<string, string> },
  ) {
    const { columns, rows, cwd, env } = options
    this.columns = columns
    this.rows = rows
    this.#screen = new xterm.Terminal({ cols: columns, rows, scrollback: 1000, allowProposedApi: true })
    this.#process = pty.spawn(program, [...args], { cols: columns, rows, cwd, env })
    this.#ended = new Promise((resolve) => this.#process.onExit(resolve))
    this.#process.onData((data) =>
      this.#screen.write(data, () => {
        this.#timer ??= setTimeout(() => this.#capture(), FRAME_MS)
        this.#changed()
      }),
    )
    this.#screen.onData((data) => this.#process.write(data))
  }

  get pid(): number {
    return this.#process.pid
  }

  /** Types a text at a person's speed, then presses Enter. */
  async type(text: string): Promise<void> {
    for (const letter of text) {
      this.#process.write(letter)
      await pause(38)
    }
    await this.hold(350)
    this.#process.write("\r")
  }

  /** Resolves when the screen matches. */
  async shows(pattern: RegExp): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS
    while (!pattern.test(this.#text())) {
      if (performance.now() > deadline) throw new Error(`The screen does not show ${pattern}:\n${this.#text()}`)
      await Promise.race([new Promise<void>((resolve) => (this.#changed = resolve)), pause(500)])
    }
  }

  /** Shows the current screen for this long, so that a reader can read it. */
  async hold(ms: number): Promise<void> {
    await pause(FRAME_MS * 2)
    this.#capture()
    // The time passes only in the recording.
    this.#started -= ms
    this.#capture()
  }

  /** Records the current screen if the caption has changed. */
  async show(caption: string): Promise<void> {
    this.caption = caption
    await this.hold(0)
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#process.kill("SIGKILL")
    await this.#ended
  }

  #text(): string {
    const { active } = this.#screen.buffer
    return Array.from({ length: this.rows }, (_, row) => active.getLine(active.baseY + row)?.translateToString(true))
      .join("\n")
      .trimEnd()
  }

  #capture(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { active } = this.#screen.buffer
    const rows = Array.from({ length: this.rows }, (_, row) => spansOf(active.getLine(active.baseY + row)))
    this.frames.push({ at: performance.now() - this.#started, caption: this.caption, rows })
  }
}

function spansOf(line: xterm.IBufferLine | undefined): Span[] {
  const spans: Span[] = []
  for (let column = 0; column < (line?.length ?? 0); column++) {
    const cell = line!.getCell(column)!
    const columns = cell.getWidth()
    if (columns === 0) continue
    const style = styleOf(cell)
    const last = spans.at(-1)
    const text = cell.getChars() || " "
    if (last && last.color === style.color && last.background === style.background && last.isBold === style.isBold)
      spans[spans.length - 1] = { ...last, columns: last.columns + columns, text: last.text + text }
    else spans.push({ from: column, columns, text, ...style })
  }
  return spans.map(withoutTrailingBlanks).filter(({ text, background }) => text.trim() !== "" || background)
}

function withoutTrailingBlanks(span: Span): Span {
  if (span.background) return span
  const text = span.text.trimEnd()
  return { ...span, text, columns: span.columns - (span.text.length - text.length) }
}

function styleOf(cell: xterm.IBufferCell): Pick<Span, "color" | "background" | "isBold"> {
  const front = cell.isFgDefault() ? TEXT : toColor(cell.getFgColor(), cell.isFgRGB())
  const back = cell.isBgDefault() ? undefined : toColor(cell.getBgColor(), cell.isBgRGB())
  const isBold = cell.isBold() !== 0
  if (cell.isInverse()) return { color: back ?? BACKGROUND, background: front, isBold }
  const color = cell.isDim() ? COLORS[8]! : front
  return back ? { color, background: back, isBold } : { color, isBold }
}

function toColor(color: number, isRgb: boolean): string {
  if (isRgb) return `#${color.toString(16).padStart(6, "0")}`
  if (color < 16) return COLORS[color]!
  if (color >= 232) return gray(8 + (color - 232) * 10)
  const steps = [0, 95, 135, 175, 215, 255]
  const level = color - 16
  return `#${[Math.floor(level / 36), Math.floor(level / 6) % 6, level % 6].map((at) => hex(steps[at]!)).join("")}`
}

const hex = (level: number): string => level.toString(16).padStart(2, "0")
const gray = (level: number): string => `#${hex(level).repeat(3)}`

const CELL = 8.4
const LINE = 19
const SIZE = 14
const MARGIN = 16
const HEADER = 40

/** Draws a recording as one endless SVG that loads nothing. `still`: the frame for readers who prefer no motion. */
export function toSvg(
  { frames, columns, rows }: TerminalRecording,
  { title, isStill }: { readonly title: string; readonly isStill: (caption: string) => boolean },
): string {
  const shown = withoutRepeats(frames)
  const width = Math.round(columns * CELL + 2 * MARGIN)
  const height = HEADER + rows * LINE + MARGIN
  const rowIds = new Map<string, string>()
  const films = shown.map((frame, index) => {
    const lines = frame.rows.flatMap((row, at) => {
      if (row.length === 0) return []
      const drawn = drawRow(row)
      if (!rowIds.has(drawn)) rowIds.set(drawn, `r${rowIds.size.toString(36)}`)
      return [`<use href="#${rowIds.get(drawn)}" y="${HEADER + at * LINE}"/>`]
    })
    const caption = `<text class="c" x="${width / 2}" y="25">${escape(frame.caption)}</text>`
    return `<g transform="translate(${index * width})">${caption}${lines.join("")}</g>`
  })
  const last = shown.at(-1)!.at + 2500
  const keyframes = shown.map(({ at }, index) => `${percent(at / last)}{transform:translate(${-index * width}px)}`)
  const still = Math.max(
    shown.findLastIndex(({ caption }) => isStill(caption)),
    0,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escape(title)}</title>
<style>
text{font:${SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:${TEXT}}
.c{font:600 14px ui-sans-serif,system-ui,-apple-system,"Segoe UI",sans-serif;text-anchor:middle;fill:#e3b341}
.b{font-weight:700}
#film{animation:film ${(last / 1000).toFixed(2)}s step-end infinite}
@media(prefers-reduced-motion:reduce){#film{animation:none;transform:translate(${-still * width}px)}}
@keyframes film{${keyframes.join("")}}
</style>
<defs>${[...rowIds].map(([drawn, id]) => `<g id="${id}">${drawn}</g>`).join("\n")}</defs>
<rect width="${width}" height="${height}" rx="10" fill="${BACKGROUND}" stroke="#3d4753"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
<svg width="${width}" height="${height}"><g id="film">
${films.join("\n")}
</g></svg>
</svg>
`
}

/** Frames that change something, without long pauses. A requested pause is two equal frames. */
function withoutRepeats(frames: readonly Frame[]): Frame[] {
  const shown: (Frame & { readonly drawn: string })[] = []
  let cut = 0
  let previous = frames[0]?.at ?? 0
  let wasHeld = false
  for (const frame of frames) {
    const drawn = `${frame.caption}${frame.rows.map(drawRow).join("\n")}`
    const isRepeat = shown.at(-1)?.drawn === drawn
    const gap = frame.at - previous
    if (!isRepeat && !wasHeld && gap > LONGEST_PAUSE_MS) cut += gap - LONGEST_PAUSE_MS
    if (!isRepeat) shown.push({ ...frame, at: frame.at - cut, drawn })
    wasHeld = isRepeat
    previous = frame.at
  }
  const start = shown[0]?.at ?? 0
  return shown.map((frame) => ({ ...frame, at: frame.at - start }))
}

function drawRow(row: readonly Span[]): string {
  return row
    .map(({ from, columns, text, color, background, isBold }) => {
      const [x, width] = [(MARGIN + from * CELL).toFixed(1), (columns * CELL).toFixed(1)]
      const fill = color === TEXT ? "" : ` fill="${color}" style="fill:${color}"`
      const box = background ? `<rect x="${x}" width="${width}" height="${LINE}" fill="${background}"/>` : ""
      // The length keeps columns aligned with any font.
      return `${box}<text x="${x}" y="14"${isBold ? ' class="b"' : ""}${fill} textLength="${width}" lengthAdjust="spacingAndGlyphs">${escape(text)}</text>`
    })
    .join("")
}

const percent = (share: number): string => `${(share * 100).toFixed(3)}%`
const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
