import { CornerDownLeft } from "../components/icons.tsx"
import type { ReactNode } from "react"
import { Plain } from "../components/plain.tsx"
import { humanName } from "../../../client/index.ts"
import type { Catalogue } from "../state/catalogue.ts"
import { AgentMark } from "../components/agent-name.tsx"
import { english, type Key, t } from "../strings/strings.ts"

type Agent = Catalogue["agents"][number]

interface AgentCardsProps {
  readonly agents: readonly Agent[]
  readonly chosen: string | undefined
  readonly onChoose: (agent: string) => void
  readonly onSay: (agent: string, words: string) => void
  /** Shown instead of an agent's examples if they would not work yet. */
  readonly instead: Readonly<Record<string, ReactNode>>
  /** Shown below the examples: what they are about, or how to add more. */
  readonly below: Readonly<Record<string, ReactNode>>
}

const ABOUT: ReadonlyMap<string, Key> = new Map([
  ["workspace", "conversation.aboutWorkspace"],
  ["analyst", "conversation.aboutAnalyst"],
  ["research", "conversation.aboutResearch"],
  ["files", "conversation.aboutFiles"],
])

/**
 * Describes an agent. Pawl's own are described in the language of the page; an agent of a pack may have the same name.
 */
const aboutAgent = (name: string, description: string): string => {
  const key = ABOUT.get(name)
  return key !== undefined && english(key) === description ? t(key) : description
}

/** Examples on a card; "help" lists the others. */
const MAX = 3

/** The agents side by side, each with examples. A click sends one. */
export function AgentCards({ agents, chosen, onChoose, onSay, instead, below }: AgentCardsProps) {
  return (
    <ul aria-label={t("conversation.agents")} className="mt-8 grid gap-3 sm:grid-cols-2">
      {agents.map(({ name, description, examples }) => (
        <li
          key={name}
          className={`flex min-w-0 flex-col rounded-2xl border bg-surface p-2 ${name === chosen ? "border-accent" : "border-line"}`}
        >
          <button
            type="button"
            aria-pressed={name === chosen}
            onClick={() => onChoose(name)}
            className="flex gap-3 rounded-xl px-2.5 pt-2 pb-1.5 text-left hover:bg-sunken"
          >
            <span className="mt-0.5 grid size-8 shrink-0 place-items-center rounded-lg bg-accent-soft text-accent">
              <AgentMark agent={name} className="size-4" />
            </span>
            <span className="min-w-0">
              <span className="block font-medium">
                <Plain text={humanName(name)} />
              </span>
              <span className="block text-[13px] leading-snug text-soft">
                <Plain text={aboutAgent(name, description)} />
              </span>
            </span>
          </button>
          {instead[name] ?? (
            <ul aria-label={t("conversation.suggestionsFor", { agent: humanName(name) })} className="mt-1">
              {examples.slice(0, MAX).map((example) => (
                <li key={example}>
                  <button
                    type="button"
                    onClick={() => onSay(name, example)}
                    className="group flex w-full items-center gap-2 rounded-lg px-2.5 py-1.5 text-left text-sm leading-snug hover:bg-sunken"
                  >
                    <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                      <Plain text={example} />
                    </span>
                    <CornerDownLeft
                      aria-hidden="true"
                      className="size-3.5 shrink-0 text-faint opacity-50 transition-opacity group-hover:opacity-100 group-focus-visible:opacity-100"
                    />
                  </button>
                </li>
              ))}
            </ul>
          )}
          {below[name] && <div className="mt-auto px-2.5 pt-1.5 pb-1 text-[13px] text-faint">{below[name]}</div>}
        </li>
      ))}
    </ul>
  )
}
