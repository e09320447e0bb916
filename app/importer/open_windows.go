package importer

// nonBlock is 0 because folders on Windows contain no pipes.
const nonBlock = 0
