/** What a library may do in the middle of a process: told to by SIGUSR2 it rejects where nobody listens, by SIGHUP it throws. */
process.on('SIGUSR2', () => {
  Promise.reject(new Error('nobody listens', { cause: new Error('deep down') }))
})
process.on('SIGHUP', () => {
  setImmediate(() => {
    throw new Error('nobody catches')
  })
})
