import {
  Ban,
  Check,
  ChevronRight,
  CircleAlert,
  CircleHelp,
  Clock,
  Hand,
  type Icon,
  LoaderCircle,
  X,
} from "../../components/icons.tsx"
import { type CallItem, type ShownCallState, humanName } from "../../../../client/index.ts"
import { callLabel } from "../../components/call-label.ts"
import { Json, Plain } from "../../components/plain.tsx"
import { DataView, hasView, isShownAtOnce } from "../../views/data-view.tsx"
import { rich } from "../../strings/strings.ts"
import { duration } from "../../strings/format.ts"

interface Look {
  readonly icon: Icon
  readonly tone: string
}

const LOOKS: Record<ShownCallState, Look> = {
  asked: { icon: Clock, tone: "text-faint" },
  proposed: { icon: Hand, tone: "text-warn" },
  approved: { icon: Clock, tone: "text-accent" },
  running: { icon: LoaderCircle, tone: "text-accent animate-spin" },
  handed_over: { icon: Clock, tone: "text-accent" },
  ended: { icon: Check, tone: "text-faint" },
  ok: { icon: Check, tone: "text-good" },
  error: { icon: CircleAlert, tone: "text-danger" },
  denied: { icon: Ban, tone: "text-danger" },
  rejected: { icon: X, tone: "text-faint" },
  expired: { icon: Clock, tone: "text-faint" },
  superseded: { icon: X, tone: "text-faint" },
  timed_out: { icon: Clock, tone: "text-danger" },
  cancelled: { icon: X, tone: "text-faint" },
  interrupted: { icon: CircleAlert, tone: "text-warn" },
  in_doubt: { icon: CircleHelp, tone: "text-warn" },
}

interface CallEntryProps {
  readonly item: CallItem
  /** Its result is drawn separately. */
  readonly isBare?: boolean
}

/** A tool call: a line that opens to show its arguments and its result. */
export function CallEntry({ item, isBare = false }: CallEntryProps) {
  const { name, input, state, text, data, ms, delayedResult: late, progress } = item
  const { icon: Icon, tone } = LOOKS[state]
  const says = callLabel(state)
  const hint = firstText(input)
  const isDrawn = isShownAtOnce(data)
  return (
    <>
      <details className="group/call">
        <summary className="flex w-fit max-w-full items-center gap-2 rounded-lg px-2 py-1 text-sm text-soft hover:bg-sunken">
          <Icon className={`size-4 shrink-0 ${tone}`} aria-hidden="true" />
          <span className="shrink-0">
            <Plain text={humanName(name)} />
          </span>
          {hint && (
            <span className="min-w-0 truncate text-faint">
              <Plain text={hint} />
            </span>
          )}
          <span className="shrink-0 text-xs text-faint">
            {ms === null ? says : state === "ok" ? duration(ms) : `${says} · ${duration(ms)}`}
          </span>
          {progress && (
            <span className="min-w-0 truncate text-xs text-faint" data-progress>
              <Plain text={progress} />
            </span>
          )}
          <ChevronRight className="size-3.5 shrink-0 text-faint transition-transform group-open/call:rotate-90" />
        </summary>
        <div className="mt-1 mb-3 ml-8 space-y-2">
          {Object.keys(input).length > 0 && <Json value={input} />}
          {text && !hasSources(data) && (
            <p
              className="max-h-80 overflow-y-auto text-sm whitespace-pre-wrap text-soft [overflow-wrap:anywhere]"
              tabIndex={0}
            >
              <Plain text={text} />
            </p>
          )}
          {late && (
            <p className="text-sm text-warn">{rich("conversation.lateResult", { text: <Plain text={late.text} /> })}</p>
          )}
          {data !== undefined && !isDrawn && <DataView data={data} />}
        </div>
      </details>
      {isDrawn && !isBare && <DataView data={data} />}
    </>
  )
}

/** Whether the view shows everything that the text says. */
const hasSources = (data: unknown) => hasView(data) && !isShownAtOnce(data)

/** The first text among the arguments. */
function firstText(input: CallItem["input"]): string | undefined {
  const word = Object.values(input).find((value) => typeof value === "string" && value.trim() !== "")
  return typeof word === "string" ? word.replaceAll(/\s+/g, " ").slice(0, 120) : undefined
}
