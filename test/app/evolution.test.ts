/** What an application stored with other definitions than it has now. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import {
  type ArtifactType,
  createGateway,
  defineArtifact,
  insecureHeaderAuth,
  type Storage,
} from '../../src/index.js'
import { describeStorages } from '../support/storages.js'

const recipe = (schema: z.ZodObject): ArtifactType => defineArtifact({ kind: 'recipe', schema })

const application = (storage: Storage, artifacts: ArtifactType[]) => {
  const gateway = createGateway({ storage, artifacts, resolveActor: insecureHeaderAuth })
  return async (query: string) => {
    const request = new Request('http://gateway/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    })
    const { data } = await (await gateway.fetch(request)).json()
    return data
  }
}

const create = `mutation { createArtifact(input: { workspaceId: "w1", artifactId: "a1", kind: "recipe", data: { name: "Soup" } }) {
  __typename } }`
const read = '{ workspace(workspaceId: "w1") { artifact(artifactId: "a1") { kind version data } } }'
const edit = `mutation { editArtifact(input: { workspaceId: "w1", artifactId: "a1", baseVersion: 1,
  patch: { jsonPatch: [{ op: "replace", path: "/name", value: "Stew" }] } }) {
  __typename ... on NotFound { entity entityId } ... on ValidationFailed { issues { path } } } }`

const soup = { workspace: { artifact: { kind: 'recipe', version: 1, data: { name: 'Soup' } } } }

describeStorages((newSubject) => {
  test('an artifact of a type that is no longer defined still reads, and cannot be edited', async () => {
    const { open } = await newSubject()
    await application(await open(), [recipe(z.object({ name: z.string() }))])(create)
    const later = application(await open(), [])
    expect(await later(read)).toEqual(soup)
    const refused = { __typename: 'NotFound', entity: 'artifact type', entityId: 'recipe' }
    expect(await later(edit)).toEqual({ editArtifact: refused })
  })

  test('an artifact stored by another schema still reads, and is held to the new one when it is edited', async () => {
    const { open } = await newSubject()
    await application(await open(), [recipe(z.object({ name: z.string() }))])(create)
    const later = application(await open(), [recipe(z.object({ name: z.string(), serves: z.int() }))])
    expect(await later(read)).toEqual(soup)
    const refused = { __typename: 'ValidationFailed', issues: [{ path: ['data', 'serves'] }] }
    expect(await later(edit)).toEqual({ editArtifact: refused })
  })
})
