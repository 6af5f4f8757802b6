import { useEffect, useState } from "react"
import { lastThought } from "../../../../client/index.ts"
import type { Reasoning } from "../../../../core/protocol/index.ts"
import { ChevronRight } from "../../components/icons.tsx"
import { Markdown } from "../../markdown/markdown.tsx"
import { Plain } from "../../components/plain.tsx"
import { t } from "../../strings/strings.ts"
import { duration } from "../../strings/format.ts"

interface ReasoningBlockProps {
  readonly reasoning: Reasoning
  /** Still in progress. */
  readonly isLive?: boolean
}

/** The reasoning before a reply: a line that opens, and while it streams shows its last words. */
export function ReasoningBlock({ reasoning: { text, ms, truncated }, isLive = false }: ReasoningBlockProps) {
  const [isOpen, setOpen] = useState(false)
  const since = useTimeSince(ms ?? 0, isLive)
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      className="group/thought text-sm text-soft"
    >
      <summary className="-ml-2 flex w-fit max-w-full items-center gap-1.5 rounded-lg px-2 py-1 hover:bg-sunken">
        {isLive ? (
          <span className="pulse mx-1 size-2 shrink-0 rounded-full bg-accent" />
        ) : (
          <ChevronRight className="size-4 shrink-0 transition-transform group-open/thought:rotate-90" />
        )}
        <span className="shrink-0">
          {isLive ? t("conversation.thinkingFor", { time: wholeSeconds((ms ?? 0) + since) }) : thoughtFor(ms)}
        </span>
        {isLive && !isOpen && (
          <span className="min-w-0 truncate text-faint">
            <Plain text={lastThought(text)} />
          </span>
        )}
      </summary>
      {/* Drawn only when open, because it may be long and grows. */}
      {isOpen && (
        <div className="mt-1 mb-2 max-h-96 overflow-y-auto border-l-2 border-line pl-3.5">
          <Markdown text={text} isOpen={isLive} />
          {truncated && <p className="mt-1 text-faint">{t("conversation.onlyBeginning")}</p>}
        </div>
      )}
    </details>
  )
}

/** The time since the server last reported a duration: a model may reason without sending text. */
function useTimeSince(reportedMs: number, isLive: boolean): number {
  const [since, setSince] = useState(0)
  useEffect(() => {
    setSince(0)
    if (!isLive) return
    const told = Date.now()
    const ticking = setInterval(() => setSince(Date.now() - told), 1000)
    return () => clearInterval(ticking)
  }, [reportedMs, isLive])
  return isLive ? since : 0
}

const thoughtFor = (ms: number | undefined): string =>
  ms === undefined ? t("conversation.thought") : t("conversation.thoughtFor", { time: wholeSeconds(ms) })

/** Whole seconds, because tenths would flicker. */
const wholeSeconds = (ms: number): string => {
  const seconds = Math.max(1, Math.round(ms / 1000))
  return seconds < 60 ? `${seconds} s` : duration(seconds * 1000)
}
