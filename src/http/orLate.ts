/** What work gives, or `late` when it takes longer than so many milliseconds: then it is not waited for any more. */
export const orLate = async <Result, Late>(
  timeout: number,
  work: Promise<Result>,
  late: Late,
): Promise<Result | Late> => {
  let timer: NodeJS.Timeout | undefined
  const expiry = new Promise<Late>((resolve) => {
    timer = setTimeout(resolve, timeout, late)
  })
  return Promise.race([work, expiry]).finally(() => clearTimeout(timer))
}
