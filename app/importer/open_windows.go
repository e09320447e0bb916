package importer

// nonBlock is 0 because Windows folders can't contain pipes.
const nonBlock = 0
