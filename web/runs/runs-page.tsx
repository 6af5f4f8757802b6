import { useCallback, useEffect, useState } from "react"
import { hasCode, usedWords } from "../../src/client/index.ts"
import type { Run } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { explain } from "../parts/explain.ts"
import { Link } from "../parts/link.tsx"
import { Plain } from "../parts/plain.tsx"
import { Trouble } from "../parts/trouble.tsx"
import { MissingPage } from "../shell/missing-page.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { client } from "../state/client.ts"
import { listeners } from "../state/feed.ts"
import { noticeSignOut } from "../state/identity.ts"
import { headWords } from "./run-words.ts"

const PAGE = 50

/** The runs of a conversation, newest first, each leading to what happened in it. */
export function RunsPage({ id }: { readonly id: string }) {
  const [runs, setRuns] = useState<readonly Run[]>()
  const [next, setNext] = useState<string | null>(null)
  const [problem, setProblem] = useState<unknown>()

  const load = useCallback(
    async (cursor?: string) => {
      try {
        const page = await client.listRuns({ params: { id }, query: { limit: PAGE, ...(cursor ? { cursor } : {}) } })
        setRuns((before = []) => (cursor ? [...before, ...page.items] : page.items))
        setNext(page.nextCursor)
        setProblem(undefined)
      } catch (error) {
        noticeSignOut(error)
        setProblem(error)
      }
    },
    [id],
  )

  useEffect(() => {
    const hear = ({ type, data }: { readonly type: string; readonly data?: unknown }) => {
      if (type === "conversation" && (data as { id?: string } | undefined)?.id === id) void load()
    }
    listeners.add(hear)
    void load()
    return () => void listeners.delete(hear)
  }, [id, load])

  if (hasCode(problem, "not_found")) return <MissingPage says={explain(problem)} />
  return (
    <>
      <PageHeader
        title="Runs of a conversation"
        under={
          <Link to={`/c/${id}`} className="text-[13px] text-accent underline underline-offset-2">
            The conversation
          </Link>
        }
      />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto w-full max-w-3xl px-3 pb-10 md:px-6">
          <Trouble problem={problem} onRetry={() => load()} />
          {runs === undefined && problem === undefined && <p className="pt-6 text-sm text-soft">Reading …</p>}
          {runs?.length === 0 && (
            <div className="pt-[20vh] text-center">
              <h2 className="mb-2 font-serif text-2xl">Nothing was asked yet</h2>
              <p className="text-soft">Each message that you send begins a run, which will be listed here.</p>
            </div>
          )}
          <ul aria-label="Runs">
            {runs?.map((run) => (
              <li key={run.id} className="border-b border-line last:border-b-0">
                <Link to={`/runs/${run.id}`} className="block rounded-lg px-2 py-2 text-sm hover:bg-sunken">
                  <span className="block truncate">{headWords(run)}</span>
                  <span className="block text-[13px] text-faint [overflow-wrap:anywhere]">
                    {run.error ? (
                      <Plain text={run.error.message} />
                    ) : (
                      run.usage && usedWords(run.usage, navigator.language)
                    )}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
          {next !== null && (
            <Button look="quiet" onClick={() => void load(next)}>
              Show older ones
            </Button>
          )}
        </div>
      </div>
    </>
  )
}
