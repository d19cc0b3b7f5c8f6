from annotated_transformer.cli import main

main()
