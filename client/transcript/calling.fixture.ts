/** A reply that says nothing and makes one call, as the stream and the API tell it. */
export const calling = (call: { readonly id: string; readonly name: string; readonly input: object }, at: string) => ({
  ...{ id: "msg_1", seq: 2, role: "assistant", content: "", toolCalls: [call], toolCallId: null, createdAt: at },
})
