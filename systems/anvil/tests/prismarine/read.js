// Opens a region with prismarine-provider-anvil and prints the block of every cell of some chunks, a run of like ones a
// line: `COUNT NAME PROPERTY=VALUE ...`, in the order y, z, x, from the lowest block up.
//
// node read.js VERSION FOLDER BOTTOM TOP X,Z...
const [version, folder, bottom, top, ...positions] = process.argv.slice(2)
const Anvil = require('prismarine-provider-anvil').Anvil(version)
const Block = require('prismarine-block')(require('prismarine-registry')(version))

async function main () {
  const anvil = new Anvil(folder)
  const texts = new Map()
  const text = state => {
    if (!texts.has(state)) {
      const block = Block.fromStateId(state, 0)
      const properties = Object.entries(block.getProperties()).map(([name, value]) => `${name}=${value}`)
      texts.set(state, [`minecraft:${block.name}`, ...properties].join(' '))
    }
    return texts.get(state)
  }
  for (const position of positions) {
    const [x, z] = position.split(',').map(Number)
    const chunk = await anvil.load(x, z)
    if (!chunk) throw new Error(`chunk ${position} is not there`)
    const lines = []
    let [last, count] = [null, 0]
    for (let y = Number(bottom); y < Number(top); y++) {
      for (let column = 0; column < 256; column++) {
        const state = chunk.getBlockStateId({ x: column & 15, y, z: column >> 4 })
        if (state === last) {
          count++
        } else {
          if (count) lines.push(`${count} ${text(last)}`)
          ;[last, count] = [state, 1]
        }
      }
    }
    lines.push(`${count} ${text(last)}`)
    console.log(`chunk ${position}\n${lines.join('\n')}`)
  }
  await anvil.close()
}

main().catch(error => {
  console.error(error.stack)
  process.exit(1)
})
