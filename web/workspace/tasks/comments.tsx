import { X } from "../../icons/signs.ts"
import { IconButton } from "../../parts/button.tsx"
import { attempt } from "../../parts/explain.ts"
import { Plain } from "../../parts/plain.tsx"
import { time } from "../../parts/words.ts"
import { useShell } from "../../shell/shell-context.ts"
import { useWorkspace } from "../../state/workspace.ts"
import { createRow, deleteRow } from "../rows/edit-row.ts"
import { QuickAdd } from "../rows/quick-add.tsx"

/** What was said of a task, oldest first. */
export function TaskComments({ taskId }: { readonly taskId: string }) {
  const { name } = useShell().identity.user
  const { rows } = useWorkspace().view.taskComments
  const comments = rows.filter((row) => row.taskId === taskId).sort((a, b) => a.createdAt - b.createdAt)
  return (
    <section aria-label="Comments" className="mt-5 border-t border-line pt-4">
      <h3 className="mb-2 text-sm font-medium">Comments</h3>
      <ul className="mb-3 space-y-2">
        {comments.map((comment) => (
          <li key={comment.id} className="flex items-start gap-2 text-sm">
            <div className="min-w-0 flex-1">
              <p className="text-[13px] text-faint">
                <Plain text={comment.author} />, {time(comment.createdAt)}
              </p>
              <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">
                <Plain text={comment.content} />
              </p>
            </div>
            <IconButton
              small
              label="Delete this comment"
              onClick={() => void attempt(() => deleteRow("taskComments", comment.id))}
            >
              <X className="size-3.5" />
            </IconButton>
          </li>
        ))}
      </ul>
      <QuickAdd
        what="comment"
        maxLength={10_000}
        onAdd={(content) => createRow("taskComments", { taskId, author: name, content })}
      />
    </section>
  )
}
