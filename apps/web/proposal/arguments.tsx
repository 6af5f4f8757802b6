import { useMemo } from "react"
import type { Proposal } from "../../../core/protocol/index.ts"
import { type AnyBlock, type SentBlock, blocksOf, isLongBlock, opened, showWhole } from "../changes/blocks.ts"
import { Blocks, Changes } from "../changes/changes.tsx"
import { isEmpty, isRecord, isWide, labelOf } from "../changes/display-value.ts"
import { Plain } from "../components/plain.tsx"
import { useStore } from "../state/store.ts"
import { rich, t } from "../strings/strings.ts"
import { toDateInput } from "./edit-fields.ts"

/** The arguments that the diff does not show. */
function Sent({ proposal }: { readonly proposal: Proposal }) {
  const blocks = sentBlocks(proposal)
  return blocks.length > 0 ? <Blocks blocks={blocks} /> : null
}

interface ArgumentsProps {
  readonly tool: string
  readonly given: Readonly<Record<string, unknown>>
}

/** The arguments as the tool receives them. */
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

/** The change of a proposal, and below it the arguments on request. */
export function ProposalDetails({ proposal }: { readonly proposal: Proposal }) {
  return (
    <>
      {proposal.diff && <Changes diff={proposal.diff} />}
      <Sent proposal={proposal} />
      <Arguments tool={proposal.tool} given={proposal.arguments} />
    </>
  )
}

/** Approving is disabled until all cut texts of a card were opened: this button opens them. */
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

/** A shorter text could occur in another one by accident. */
const MIN_QUOTED = 8

/**
 * The arguments that a card shows in addition to the diff: all without a diff; else those that the diff does not
 * contain, such as an SQL statement, or "tomorrow" for a date.
 */
function sentBlocks({ arguments: given, diff, summary }: Proposal): SentBlock[] {
  const told = diff && [summary, ...leaves(diff)]
  return Object.entries(given)
    .filter(([, value]) => !told || !isInDiff(value, told))
    .map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value)
      return { type: "sent", key: `sent ${name}`, label: labelOf(name), text }
    })
}

/** The keys of the cut blocks of a proposal. */
function cutKeys(proposal: Proposal): string[] {
  const shown: AnyBlock[] = [...(proposal.diff ? blocksOf(proposal.diff).blocks : []), ...sentBlocks(proposal)]
  return shown.filter(isLongBlock).map(({ key }) => key)
}

function isInDiff(value: unknown, told: readonly string[]): boolean {
  if (isEmpty(value)) return true
  if (Array.isArray(value)) return value.every((each) => isInDiff(each, told))
  // Rows that an undo sends are shown by the diff, and can be opened in full.
  if (isRecord(value)) return true
  // Tools trim names.
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

/** The number of cut blocks that have not been opened, and a function that opens them all. */
export function useCutTexts(proposals: readonly Proposal[]): readonly [count: number, showEverything: () => void] {
  const set = useStore(opened)
  const ids = proposals.map(({ id }) => id as string)
  const cut = useMemo(
    () => proposals.map((proposal) => ({ id: proposal.id as string, keys: cutKeys(proposal) })),
    // The content of a proposal never changes.
    [ids.join()],
  )
  const count = cut.reduce((sum, { id, keys }) => {
    return set.has(id) ? sum : sum + keys.filter((key) => !set.has(`${id} ${key}`)).length
  }, 0)
  return [count, () => showWhole(ids)]
}
