import { z } from "zod"
import { name, reference, text } from "./kinds.ts"
import type { TableSpec } from "./table.ts"

/** Comments on tasks. A comment is never changed, because it is a record. */
export const commentTable: TableSpec = {
  name: "taskComments",
  plural: "comments",
  argument: "comment_id",
  headline: ({ author, content }) => `${author}: ${content}`,
  fields: [
    {
      ...{ argument: "task_id", column: "taskId", kind: reference("tasks"), create: "required", label: "task" },
      about: "The task's id, or its exact title",
    },
    { argument: "author", column: "author", kind: name(200), create: "required", about: "Who says it" },
    {
      argument: "content",
      column: "content",
      kind: { ...text(), schema: z.string().trim().min(1).max(100_000) },
      create: "required",
    },
  ],
  lists: [
    {
      name: "list_task_comments",
      description: "List the comments on one task.",
      filters: [
        {
          ...{
            argument: "task_id",
            key: "taskId",
            schema: z.string().trim().min(1).max(1000),
            refers: "tasks",
          },
          ...{ required: true, about: "The task's id, or its exact title" },
          words: (task) => ` on task ${task}`,
        },
      ],
      examples: ["show the comments on Buy milk"],
    },
  ],
  create: {
    ...{ name: "add_task_comment", verb: "add", done: "added" },
    examples: ["comment on Buy milk: two litres"],
    description: "Propose a comment on a task.",
  },
  delete: {
    name: "delete_task_comment",
    description: "Propose to delete one comment.",
    examples: ["delete comment cmt_1"],
  },
  restore: "restore_task_comment",
  profile: "task",
}
