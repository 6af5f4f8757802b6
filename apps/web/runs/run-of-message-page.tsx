import { useCallback, useEffect, useState } from "react"
import { hasCode } from "../../../client/index.ts"
import { explain } from "../components/explain.ts"
import { LoadProblem } from "../components/use-loaded.tsx"
import { MissingPage, PageHeader } from "../shell/page-header.tsx"
import { client } from "../state/client.ts"
import { noticeSignOut } from "../state/identity.ts"
import { navigate } from "../state/router.ts"
import { t } from "../strings/strings.ts"

interface RunOfMessagePageProps {
  readonly id: string
  readonly message: string
}

/** Redirects to the run of a message, which the conversation's page does not know. */
export function RunOfMessagePage({ id, message }: RunOfMessagePageProps) {
  const [problem, setProblem] = useState<unknown>()
  const find = useCallback(async () => {
    try {
      const run = await client.readRunOfMessage({ params: { id, messageId: message } })
      navigate(`/runs/${run.id}`, { replace: true })
    } catch (error) {
      noticeSignOut(error)
      setProblem(error)
    }
  }, [id, message])
  useEffect(() => void find(), [find])
  if (hasCode(problem, "not_found")) return <MissingPage says={explain(problem)} />
  return (
    <>
      <PageHeader title={t("runs.run")} />
      <LoadProblem problem={problem} onRetry={find} className="mx-3 md:mx-5" />
    </>
  )
}
