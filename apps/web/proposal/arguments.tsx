import { useMemo } from "react"
import type { Proposal } from "../../../core/protocol/index.ts"
import { type AnyBlock, type SentBlock, blocksOf, isLongBlock, opened, showWhole } from "../changes/blocks.ts"
import { Blocks, Changes } from "../changes/changes.tsx"
import { isEmpty, isRecord, isWide, labelOf } from "../changes/value-words.ts"
import { Plain } from "../parts/plain.tsx"
import { useStore } from "../state/store.ts"
import { rich, t } from "../strings/strings.ts"
import { toDateInput } from "./edit-fields.ts"

/** The arguments that the change beside them does not tell. */
function Sent({ proposal }: { readonly proposal: Proposal }) {
  const blocks = sentBlocks(proposal)
  return blocks.length > 0 ? <Blocks blocks={blocks} /> : null
}

interface ArgumentsProps {
  readonly tool: string
  readonly given: Readonly<Record<string, unknown>>
}

/** The request as the tool receives it: every field, every character. */
export function Arguments({ tool, given }: ArgumentsProps) {
  const fields = Object.entries(given)
  return (
    <details className="group/sent text-[13px]">
      <summary className="w-fit rounded text-faint hover:text-ink">{t("proposal.rawRequest")}</summary>
      <div className="mt-1.5 rounded-xl bg-sunken px-3.5 py-2.5">
        <p className="mb-1 font-mono text-[12.5px]">
          <Plain text={tool} />
        </p>
        {fields.length === 0 ? (
          <p className="text-soft">{t("proposal.noArguments")}</p>
        ) : (
          <dl className="fields gap-y-0.5 text-[12.5px]">
            {fields.map(([name, value]) => {
              const text = JSON.stringify(value)
              return (
                <div key={name} className="contents" data-wide={isWide(text) || undefined}>
                  <dt className="font-mono text-soft">
                    <Plain text={name} />
                  </dt>
                  <dd className="font-mono whitespace-pre-wrap">
                    <Plain text={text} />
                  </dd>
                </div>
              )
            })}
          </dl>
        )}
      </div>
    </details>
  )
}

/** What a proposal changes, once: what is sent follows in full for whoever opens it. */
export function ProposalDetails({ proposal }: { readonly proposal: Proposal }) {
  return (
    <>
      {proposal.diff && <Changes diff={proposal.diff} />}
      <Sent proposal={proposal} />
      <Arguments tool={proposal.tool} given={proposal.arguments} />
    </>
  )
}

/** Approving is off until the cut texts of a card were shown in full: this is the way to show them. */
export const ShowFullText = ({ onShow, className }: { readonly onShow: () => void; readonly className?: string }) => (
  <span className={className}>
    {rich("proposal.showFullText", {
      button: (label) => (
        <button type="button" onClick={onShow} className="font-medium underline underline-offset-2">
          {label}
        </button>
      ),
    })}
  </span>
)

/** Shorter than this a text stands in another one by accident. */
const MIN_QUOTED = 8

/**
 * The arguments that a card has to show beside its change: all of them where there is none to show; else those that the
 * change does not tell already, such as the statement for a database, or "tomorrow" for what became a date.
 */
function sentBlocks({ arguments: given, diff, summary }: Proposal): SentBlock[] {
  const told = diff && [summary, ...leaves(diff)]
  return Object.entries(given)
    .filter(([, value]) => !told || !isTold(value, told))
    .map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value)
      return { type: "sent", key: `sent ${name}`, label: labelOf(name), text }
    })
}

/** What of a proposal is cut until somebody asks for it, by key. */
function cutKeys(proposal: Proposal): string[] {
  const shown: AnyBlock[] = [...(proposal.diff ? blocksOf(proposal.diff).blocks : []), ...sentBlocks(proposal)]
  return shown.filter(isLongBlock).map(({ key }) => key)
}

function isTold(value: unknown, told: readonly string[]): boolean {
  if (isEmpty(value)) return true
  if (Array.isArray(value)) return value.every((each) => isTold(each, told))
  // Whole rows, as an undo sends them, are what the change shows; every character of them can be opened.
  if (isRecord(value)) return true
  // Tools take a name without the blanks around it.
  const text = String(value).trim()
  const isDate = /^\d{4}-\d{2}-\d{2}/.test(text)
  return told.some((each) => {
    return (
      each === text ||
      (text.length >= MIN_QUOTED && each.includes(text)) ||
      (isDate && toDateInput(each, null) === text)
    )
  })
}

function leaves(value: unknown): string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(leaves)
  return isEmpty(value) ? [] : [String(value)]
}

/** How many parts of proposals are cut that nobody has asked to see, and the one act that shows them all. */
export function useCutTexts(proposals: readonly Proposal[]): readonly [count: number, showEverything: () => void] {
  const set = useStore(opened)
  const ids = proposals.map(({ id }) => id as string)
  const cut = useMemo(
    () => proposals.map((proposal) => ({ id: proposal.id as string, keys: cutKeys(proposal) })),
    // A proposal never changes what it shows.
    [ids.join()],
  )
  const count = cut.reduce((sum, { id, keys }) => {
    return set.has(id) ? sum : sum + keys.filter((key) => !set.has(`${id} ${key}`)).length
  }, 0)
  return [count, () => showWhole(ids)]
}
